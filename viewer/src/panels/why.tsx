// Why no operation can be next: one card per reason against the blocked operation, and one line for waiting ones.
//
// The report groups states by reason. A card lists the conjuncts of the action and the outcome of each; states with the
// same outcome and values share a line. Enter on a conjunct selects its operation in the timeline, so that the keyboard
// alone leads from the verdict to the blocked operation.

import { useState } from 'preact/hooks';
import type { Conjunct, OpRef, Reason, Report } from '../data/types.ts';
import type { BrokenView } from '../data/verdict.ts';
import { brief, letter, list, many } from '../text.ts';
import { showOp } from './local.ts';
import { glyph, gravest, groups, reasonText } from './outcome.ts';
import { Op, Place, Sentence } from './parts.tsx';
import { Marked, marked, type Stretch, Value } from './value.tsx';
import { nameOf } from './words.ts';

/** A conjunct of more characters is cut after some lines. */
const LONG = 160;

/** The conjuncts of an action or an invariant. `states` are indices into the possible states. */
function Conjuncts({
  report,
  conjuncts,
  states,
  op,
}: {
  report: Report;
  conjuncts: Conjunct[];
  states: number[];
  op: OpRef | null;
}) {
  return (
    <ul class="conjuncts">
      {conjuncts.map(conjunct => {
        const worst = glyph(gravest(conjunct.outcomes));
        const isLong = conjunct.text.length > LONG;
        const inner = (
          <>
            <span class={`sign ${worst.tone}`} aria-hidden="true">
              {worst.sign}
            </span>
            <code class={isLong ? 'long' : ''} title={isLong ? brief(conjunct.text, 2000) : undefined}>
              {brief(conjunct.text, 400)}
            </code>
            <span class="aside"> is {worst.word}</span>
          </>
        );
        return (
          <li class={worst.tone}>
            {op === null ? (
              <span class="conjunct">{inner}</span>
            ) : (
              <button
                type="button"
                class="conjunct"
                title="Show the operation in the timeline"
                onClick={() => showOp(op)}
              >
                {inner}
              </button>
            )}
            {worst.tone !== 'quiet' && <Groups conjunct={conjunct} states={states} />}
            {worst.tone === 'bad' && <Place report={report} span={conjunct.span} />}
          </li>
        );
      })}
    </ul>
  );
}

function Groups({ conjunct, states }: { conjunct: Conjunct; states: number[] }) {
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState(false);
  const found = groups(conjunct);
  const lone = found.length === 1;
  if (!open && conjunct.outcomes.every(outcome => outcome === 'true')) {
    const has = found.some(group => group.values.length > 0);
    return (
      <p class="outcome">
        TRUE in {statesText(states)}{' '}
        {has && (
          <button type="button" class="more" onClick={() => setOpen(true)}>
            values
          </button>
        )}
      </p>
    );
  }
  if (lone && found[0]!.values.length === 0 && typeof found[0]!.outcome === 'string') {
    const word = glyph(found[0]!.outcome).word;
    return word === 'TRUE' ? null : <p class="outcome">{`${word} in ${statesText(states)}`}</p>;
  }
  const shown = all ? found : found.slice(0, 6);
  // Marks where the values of a conjunct differ between groups.
  const compared = new Map<string, Stretch[][]>();
  for (const { text } of conjunct.values) {
    compared.set(text, marked(shown.map(group => group.values.find(each => each.text === text)?.value ?? '')));
  }
  return (
    <>
      {shown.map((group, place) => (
        <p class="outcome">
          {group.values.map(({ text, value }, at) => (
            <>
              {at > 0 && ', '}
              <code>{brief(text, 80)}</code> is{' '}
              {lone ? <Value text={value} /> : <Marked words={compared.get(text)?.[place] ?? []} />}
            </>
          ))}
          {group.values.length > 0 && ' → '}
          <strong class={glyph(group.outcome).tone}>{glyph(group.outcome).word}</strong>
          {typeof group.outcome === 'object' && 'error' in group.outcome && <>: {brief(group.outcome.error, 300)}</>}
          {states.length > 1 &&
            (lone ? ` in ${statesText(states)}` : ` in ${list(group.at.map(at => letter(states[at] ?? at)))}`)}
        </p>
      ))}
      {found.length > shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          {found.length - shown.length} more
        </button>
      )}
    </>
  );
}

function statesText(states: number[]): string {
  return states.length === 1 ? `state ${letter(states[0]!)}` : `all ${states.length} states`;
}

function Card({ report, reason, total }: { report: Report; reason: Reason; total: number }) {
  const { why } = reason;
  const allowed =
    why.kind === 'dead'
      ? 'is a dead end'
      : why.kind === 'error'
        ? 'cannot be evaluated'
        : why.kind === 'time'
          ? 'must wait'
          : 'not enabled';
  return (
    <article class={`card ${why.kind === 'time' ? 'wait' : why.kind === 'error' ? 'odd' : 'bad'}`}>
      <h3>
        <Op report={report} op={reason.op} />{' '}
        <strong class={why.kind === 'time' || why.kind === 'error' ? 'odd' : 'bad'}>{allowed}</strong>
        {total > 0 && (
          <span class="quiet">
            {' '}
            in{' '}
            {total === 1
              ? 'the only possible state'
              : reason.states.length === total
                ? `all ${total} possible states`
                : `${reason.states.length} of ${total} possible states`}
          </span>
        )}
      </h3>
      {why.kind === 'guard' && (
        <>
          <p class="where">
            <code>{brief(why.action, 80)}</code> <Place report={report} span={why.span} />
            {why.ways > 1 && <span class="quiet"> · {why.ways} alternatives; this one got furthest</span>}
          </p>
          {why.choices.length > 0 && (
            <p class="where">
              with{' '}
              {why.choices.map((choice, at) => (
                <>
                  {at > 0 && ', '}
                  <code>{brief(choice.name, 40)}</code> = <Value text={choice.value} />
                </>
              ))}
            </p>
          )}
          <Conjuncts report={report} conjuncts={why.conjuncts} states={reason.states} op={reason.op} />
        </>
      )}
      {why.kind === 'time' && (
        <p>
          It began after <Op report={report} op={why.after} /> returned, which is not placed yet.
        </p>
      )}
      {why.kind === 'words' && (
        <p class="words">
          <Sentence text={why.text} width={600} />
        </p>
      )}
      {why.kind === 'excluded' && (
        <p>
          The step is enabled, but <code>{brief(why.name, 80)}</code> excludes it:{' '}
          <Place report={report} span={why.span} />
        </p>
      )}
      {why.kind === 'error' && (
        <p class="words">
          <Value text={why.message} width={600} /> {why.span && <Place report={report} span={why.span} />}
        </p>
      )}
      {why.kind === 'dead' && <p>It is enabled here, but every order that continues with it gets stuck too.</p>}
    </article>
  );
}

/** All reasons: those against the blocked operation in full, the others grouped. */
export function Reasons({
  report,
  reasons,
  blocked,
  total,
}: {
  report: Report;
  reasons: Reason[];
  blocked: OpRef[];
  total: number;
}) {
  const first =
    blocked.length === 0
      ? reasons.filter(reason => reason.why.kind !== 'time').slice(0, 3)
      : reasons.filter(reason => blocked.includes(reason.op));
  const rest = reasons.filter(reason => !first.includes(reason));
  const waiting = new Map<OpRef, OpRef[]>();
  for (const { op, why } of rest) {
    if (why.kind !== 'time') continue;
    const ops = waiting.get(why.after) ?? [];
    if (!ops.includes(op)) ops.push(op);
    waiting.set(why.after, ops);
  }
  const others = rest.filter(reason => reason.why.kind !== 'time');
  return (
    <>
      {first.map(reason => (
        <Card report={report} reason={reason} total={total} />
      ))}
      {first.length === 0 && reasons.length === 0 && <p class="quiet">No operation could be next.</p>}
      {[...waiting].map(([after, ops]) => (
        <details class="line">
          <summary>
            <span class="sign odd" aria-hidden="true">
              …
            </span>{' '}
            {many(ops.length, 'other operation')} must wait:{' '}
            {list(
              ops.map(op => nameOf(report, op)),
              8,
            )}{' '}
            began after {nameOf(report, after)} returned
          </summary>
          <ul class="ops">
            {ops.slice(0, 60).map(op => (
              <li>
                <Op report={report} op={op} />
              </li>
            ))}
          </ul>
        </details>
      ))}
      {others.slice(0, 40).map(reason => (
        <details class="line">
          <summary>
            <span class="sign bad" aria-hidden="true">
              ✗
            </span>{' '}
            {nameOf(report, reason.op)}: {brief(reasonText(report, reason.why), 120)}
          </summary>
          <Card report={report} reason={reason} total={total} />
        </details>
      ))}
    </>
  );
}

/** An invariant that every order violates. */
export function Violated({ report, violation }: { report: Report; violation: BrokenView }) {
  const states = violation.states.map((_, at) => at);
  const broke = violation.broke?.[0] ?? null;
  return (
    <article class="card bad">
      <h3>
        <code>{brief(violation.invariant, 80)}</code> <strong class="bad">is FALSE</strong>
        <span class="quiet"> in every order</span>
      </h3>
      <p class="where">
        <Place report={report} span={violation.span} />
        {broke !== null && (
          <>
            {' '}
            · false after <Op report={report} op={broke} />
          </>
        )}
        {broke === null && violation.blocked.length > 0 && (
          <>
            {' '}
            · no order is left when <Op report={report} op={violation.blocked[0]!} /> returns
          </>
        )}
      </p>
      <Conjuncts
        report={report}
        conjuncts={violation.conjuncts}
        states={states}
        op={broke ?? violation.blocked[0] ?? null}
      />
    </article>
  );
}
