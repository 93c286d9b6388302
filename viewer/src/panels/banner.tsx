// The verdict in one sentence for readers new to the tool, and what was checked.
//
// Inconclusive is a separate verdict: neither red nor green, and never worded as a rejection.

import { cutMiddle } from '../data/short.ts';
import type { Legal, Report, RunHead } from '../data/types.ts';
import { failingOps, verdictView } from '../data/verdict.ts';
import { focus, isStale } from '../state.ts';
import { brief, count, many, seconds } from '../text.ts';
import { besideFailure, failureOf, headline } from './headline.ts';
import { capital, Fact, Op, Path, Sentence } from './parts.tsx';

const ORDER: Record<Report['order'], string> = { 'real-time': 'real time', program: 'program order', none: 'none' };

/** The banner. */
export function Banner({ head }: { head: RunHead }) {
  const { report, run, assumed = [] } = head;
  const { sign, word, rest, tone } = headline(report, assumed);
  const total = report.history.operations;
  const failure = failureOf(report);
  const none = total === 0;
  const verdict = verdictView(report);
  const sentence = 'sentence' in verdict ? verdict.sentence : null;
  // Assumptions are listed below the headline already.
  const notes = report.notes.filter(note => assumed.length === 0 || !assumed.every(each => note.includes(each)));
  return (
    <header class={`banner ${isStale.value ? 'quiet' : tone}`}>
      {isStale.value && (
        <p class="under" role="status">
          <b>Rechecking…</b> The verdict below is the previous one and does not yet apply to{' '}
          {focus.value.length === 0 ? 'the history without assumptions' : <Assumed texts={focus.value} />}.
        </p>
      )}
      <h1>
        {isStale.value && 'Previously: '}
        <span aria-hidden="true">{sign}</span> {word}
        {!none && !failure && report.level && (
          <>
            {' '}
            at the level <code>{brief(report.level.name, 120)}</code>
          </>
        )}
        {!failure && ': '}
        {sentence ? (
          <Sentence text={sentence} width={400} />
        ) : (
          !failure && (
            <>
              {rest} {!none && <code>{brief(base(report.spec.name), 80)}</code>}
            </>
          )
        )}
      </h1>
      {assumed.length > 0 && (
        <p class="under">
          Holds only under {many(assumed.length, 'assumption')}: <Assumed texts={assumed} />
        </p>
      )}
      {failure ? (
        <p>
          <Sentence text={besideFailure(report)} width={400} />
        </p>
      ) : none ? (
        <p>The trace is empty: check that the program was linked with the recorder and that it ran.</p>
      ) : (
        <Summary report={report} assumed={assumed} />
      )}
      <ul class="badges" aria-label="About this check">
        {(report.tags ?? []).map(tag => (
          <Badge name="known as" value={tag} />
        ))}
        <Badge name="spec" value={report.spec.name} />
        {report.spec.constants.map(constant => (
          <Badge name={constant.name} value={constant.value} />
        ))}
        <Badge name="trace" value={report.history.name} />
        <Badge name="processes" value={count(report.history.processes)} />
        {total !== null && <Badge name="operations" value={count(total)} />}
        <Badge name="order" value={ORDER[report.order]} />
        {report.stats.method && <Badge name="method" value={report.stats.method} />}
        <Badge name="took" value={seconds(report.stats.seconds)} />
        {run && <Badge name="seed" value={head.seed ?? String(run.plan.seed)} />}
        {run && <Badge name="run" value={run.id} />}
        <Badge name="tool" value={head.tool} />
      </ul>
      {(report.history.cuts.length > 0 || notes.length > 0) && (
        <ul class="notes" aria-label="Notes">
          {report.history.cuts.slice(0, 8).map(cut => (
            <li>✂ The trace is truncated: {brief(cut, 300)}</li>
          ))}
          {report.history.cuts.length > 8 && (
            <li>✂ and truncated in {many(report.history.cuts.length - 8, 'more place')}</li>
          )}
          {notes.slice(0, 8).map(note => (
            <li>
              <Sentence text={note} width={400} />
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

function base(path: string): string {
  return path.split('/').pop() || path;
}

function Badge({ name, value }: { name: string; value: string }) {
  return (
    <li title={value.length > 48 ? brief(value, 400) : undefined}>
      <span>{brief(name, 30)}</span>{' '}
      <b>
        <Path text={cutMiddle(value, 48)} width={60} />
      </b>
    </li>
  );
}

/** All assumptions: the verdict holds only under all of them. */
function Assumed({ texts }: { texts: string[] }) {
  return texts.map((text, at) => (
    <>
      {at > 0 && ', '}
      <code>{brief(text, 120)}</code>
    </>
  ));
}

/** What supports the verdict: the details of the report, and figures. An acceptance comes without a sentence of its own. */
function Summary({ report, assumed }: { report: Report; assumed: string[] }) {
  const verdict = verdictView(report);
  const total = report.history.operations;
  const operations = (n: number) =>
    total === null ? many(n, 'operation') : `${count(n)} of ${many(total, 'operation')}`;
  if (verdict.kind === 'accepted') {
    return (
      <p>
        All {total === null ? '' : count(total)} operations can be put into one order
        {report.level
          ? ' in which each returned what the specification returns after the operations that it saw'
          : ' that the specification allows'}
        {assumed.length > 0 && ', consistent with the assumptions'}.{' '}
        {!!report.level?.missing && `${many(report.level.missing, 'operation')} missed others.`}
      </p>
    );
  }
  if (verdict.kind === 'inconclusive') {
    return (
      <>
        <p>
          <Sentence text={capital(verdict.stop)} width={400} />.
        </p>
        <dl class="facts">
          <Fact name="returned by then">{operations(report.stats.returned)}</Fact>
          <Fact name="violations until then">none</Fact>
        </dl>
      </>
    );
  }
  const failing = failingOps(verdict).slice(0, 3);
  const details = verdict.details && (
    <p>
      <Sentence text={verdict.details} width={800} />
    </p>
  );
  if (verdict.kind === 'contradiction') return details || null;
  const expected = verdict.kind === 'stuck' ? verdict.expected : [];
  return (
    <>
      {details}
      <dl class="facts">
        {failing.length > 0 && (
          <Fact name={failing.length === 1 ? 'operation' : 'operations'}>
            {failing.map((op, at) => (
              <>
                {at > 0 && ', '}
                <Op report={report} op={op} />
              </>
            ))}
          </Fact>
        )}
        <Fact name={report.order === 'real-time' && verdict.kind !== 'views' ? 'explained before it' : 'explained'}>
          {operations(verdict.explained)}
        </Fact>
        {expected.length > 0 && verdict.kind === 'stuck' && (
          <Fact name="expected">
            {brief(
              expected
                .slice(0, 3)
                .map(each => each.map(field => field.value).join(', ') || 'no result')
                .join(' or '),
              160,
            )}
            {(expected.length > 3 || verdict.expects_more) && ', among others'}
          </Fact>
        )}
        {verdict.kind === 'stuck' && <When report={report} legal={verdict.legal} />}
      </dl>
    </>
  );
}

/** Where the operation would have been legal. */
function When({ report, legal }: { report: Report; legal: Legal }) {
  switch (legal.kind) {
    case 'unknown':
      return null;
    case 'earlier':
      return (
        <Fact name="legal earlier, until">
          <Op report={report} op={legal.until} />
        </Fact>
      );
    case 'later':
      return (
        <Fact name="legal later, after">
          <Op report={report} op={legal.after} />
        </Fact>
      );
    case 'never':
      return <Fact name="legal">nowhere within {many(legal.looked_at, 'operation')} before and after</Fact>;
  }
}
