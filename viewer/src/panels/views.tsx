// Levels at which operations need not see everything before them: what an operation missed, and why a history is
// rejected whatever its operations see.

import type { OpRef, Report, View } from '../data/types.ts';
import { history, placeOf, selection } from '../state.ts';
import { brief, count, many } from '../text.ts';
import { liveHistory } from './local.ts';
import { Few, Op, Placed, Section, Sentence } from './parts.tsx';
import { nameOf } from './words.ts';

/** What the selected operation missed; nothing if it saw everything before it. */
export function Missed() {
  const past = liveHistory();
  const at = selection.value;
  const missed = past && at !== null ? [...past.missed(at)] : [];
  if (!past || at === null || missed.length === 0) return null;
  return (
    <Section id="h-missed" title="Selected operation">
      <article class="card missed">
        <h3>
          <Placed at={at} />
        </h3>
        <p>missed:</p>
        <ul class="ops">
          <Few
            items={missed}
            most={12}
            draw={place => (
              <li>
                <Placed at={place} />
              </li>
            )}
          />
        </ul>
        <p class="quiet">Missed operations are dashed in the timeline, seen ones outlined, later ones dimmed.</p>
      </article>
    </Section>
  );
}

/** The operations of an accepted history that missed others. */
export function AllMissed({ report }: { report: Report }) {
  const { level } = report;
  if (!level) return null;
  const more = level.missing - level.missed.length;
  const unlisted = history.value?.timeline.missed_left_out ?? 0;
  return (
    <article class="card">
      <p>
        {level.missing === 0
          ? 'No operation had to miss another.'
          : `${many(level.missing, 'operation')} missed others:`}
      </p>
      <ul class="ops">
        {level.missed.map(({ op, missed }) => (
          <li>
            <Op report={report} op={op} /> missed <Ops report={report} ops={missed} />
            {moreOf(op, missed.length)}
          </li>
        ))}
        {more > 0 && <li>and {count(more)} more</li>}
      </ul>
      {unlisted > 0 && <p class="quiet">The timeline does not mark {count(unlisted)} of them: there are too many.</p>}
    </article>
  );
}

/** The number of operations that one missed, beyond those that the report lists. */
function moreOf(op: OpRef, listed: number): string {
  const place = placeOf(op);
  const more = place === null ? 0 : (history.value?.missed(place).size ?? 0) - listed;
  return more > 0 ? ` and ${count(more)} more` : '';
}

/** An operation whose results nothing explains that it may have seen. */
export function Unexplained({ report, view }: { report: Report; view: View }) {
  const { op, sees, states, why } = view;
  return (
    <article class="card bad">
      <h3>
        <Op report={report} op={op} /> <strong class="bad">not explained</strong>
      </h3>
      <p>
        {nameOf(report, op)} {brief(sees, 300)}.
      </p>
      <dl class="views">
        <dt>has to see</dt>
        <dd>
          <Ops report={report} ops={view.must_see} total={view.must_see_count} />
        </dd>
        <dt>may miss</dt>
        <dd>
          <Ops report={report} ops={view.may_miss} total={view.may_miss_count} />
        </dd>
      </dl>
      {states.length === 0 && <p>There is no state that {nameOf(report, op)} may see.</p>}
      {why !== null && (
        <p class="words">
          {states.length > 1 && 'State A: '}
          <Sentence text={why} width={600} />
        </p>
      )}
    </article>
  );
}

/** Operations in a line. If `total` is larger than their number, they are the last. */
function Ops({ report, ops, total = ops.length }: { report: Report; ops: OpRef[]; total?: number }) {
  if (total === 0) return 'nothing';
  return (
    <>
      {ops.map((op, at) => (
        <>
          {at > 0 && ', '}
          <Op report={report} op={op} />
        </>
      ))}
      {total > ops.length && `${ops.length > 0 ? ', and ' : ''}${count(total - ops.length)} before`}
    </>
  );
}
