// The verdict, in a sentence that needs no knowledge of the tool, and what was checked.
//
// Inconclusive is its own answer: it is neither red nor green, and no word of it says `rejected`.

import type { Legal, Report, RunHead } from '../data/types.ts';
import { found } from '../data/verdict.ts';
import { focus, isStale } from '../state.ts';
import { brief, count, many, seconds } from '../text.ts';
import { Op } from './parts.tsx';

/** What the head of the page says. Under assumptions, a verdict is about fewer orders. */
export function headline(
  report: Report,
  assumed: string[],
): { sign: string; word: string; rest: string; tone: string } {
  if (report.history.operations === 0) {
    return { sign: '·', word: 'Nothing to check', rest: 'the history has no operations', tone: 'quiet' };
  }
  const order = assumed.length > 0 ? 'order that keeps what is assumed' : 'order of these operations';
  const verdict = found(report);
  switch (verdict.kind) {
    case 'accepted':
      return { sign: '✓', word: 'Accepted', rest: `an ${order} is allowed by`, tone: 'good' };
    case 'stuck':
    case 'contradiction':
      return { sign: '✗', word: 'Rejected', rest: `no ${order} is allowed by`, tone: 'bad' };
    case 'invariant':
      return { sign: '✗', word: 'Rejected', rest: `every ${order} breaks ${verdict.invariant} of`, tone: 'bad' };
    case 'inconclusive':
      return { sign: '…', word: 'Inconclusive', rest: 'the check stopped before it knew, against', tone: 'odd' };
  }
}

/** The banner. */
export function Banner({ head }: { head: RunHead }) {
  const { report, run, assumed = [] } = head;
  const { sign, word, rest, tone } = headline(report, assumed);
  const total = report.history.operations;
  const none = total === 0;
  // The line below the headline says it already.
  const notes = report.notes.filter(note => assumed.length === 0 || !assumed.every(each => note.includes(each)));
  return (
    <header class={`banner ${isStale.value ? 'quiet' : tone}`}>
      {isStale.value && (
        <p class="under" role="status">
          <b>Checking again…</b> The verdict below is the one from before and says nothing about{' '}
          {focus.value.length === 0 ? 'the history without assumptions' : <Assumed texts={focus.value} />} yet.
        </p>
      )}
      <h1>
        {isStale.value && 'Before: '}
        <span aria-hidden="true">{sign}</span> {word}: {rest}{' '}
        {!none && <code>{brief(base(report.spec.name), 80)}</code>}
      </h1>
      {assumed.length > 0 && (
        <p class="under">
          This holds under {many(assumed.length, 'assumption')} only: <Assumed texts={assumed} />
        </p>
      )}
      {none ? (
        <p>The recording is empty: check that the program was linked with the recorder, and that it was run.</p>
      ) : (
        <Sentence report={report} assumed={assumed} />
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
        <Badge name="order" value={report.order === 'program' ? 'program order' : 'real time'} />
        {report.stats.method && <Badge name="method" value={report.stats.method} />}
        <Badge name="took" value={seconds(report.stats.seconds)} />
        {run && <Badge name="seed" value={head.seed ?? String(run.plan.seed)} />}
        {run && <Badge name="run" value={run.id} />}
        <Badge name="tool" value={head.tool} />
      </ul>
      {(report.history.cuts.length > 0 || notes.length > 0) && (
        <ul class="notes" aria-label="Notes">
          {report.history.cuts.slice(0, 8).map(cut => (
            <li>✂ The recording breaks off: {brief(cut, 300)}</li>
          ))}
          {report.history.cuts.length > 8 && (
            <li>✂ and {report.history.cuts.length - 8} more places where it breaks off</li>
          )}
          {notes.slice(0, 8).map(note => (
            <li>{brief(note, 400)}</li>
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
    <li title={value.length > 40 ? brief(value, 400) : undefined}>
      <span>{brief(name, 30)}</span> <b>{brief(value, 40)}</b>
    </li>
  );
}

/** Assumptions, all of them: a verdict without one of its conditions is another verdict. */
function Assumed({ texts }: { texts: string[] }) {
  return texts.map((text, at) => (
    <>
      {at > 0 && ', '}
      <code>{brief(text, 120)}</code>
    </>
  ));
}

function Sentence({ report, assumed }: { report: Report; assumed: string[] }) {
  const verdict = found(report);
  const of = report.history.operations === null ? '' : ` of ${count(report.history.operations)}`;
  if (verdict.kind === 'accepted') {
    return (
      <p>
        All {report.history.operations === null ? '' : count(report.history.operations)} operations can be put into one
        order that the specification allows{assumed.length > 0 && ' and that keeps what is assumed'}.
      </p>
    );
  }
  if (verdict.kind === 'inconclusive') {
    return (
      <p>
        {capital(brief(verdict.stop, 400))}. {many(report.stats.returned, 'operation')}
        {of} had returned by then. Nothing against the history was found until there, and nothing is said about the
        rest.
      </p>
    );
  }
  return (
    <p>
      {capital(brief(verdict.sentence, 800))}
      {/[.!?]$/.test(verdict.sentence) ? '' : '.'}
      {verdict.kind !== 'contradiction' && (
        <>
          {' '}
          <b>{count(verdict.explained)}</b>
          {of} operations {report.order === 'program' ? 'can be placed' : 'returned before and are explained'}.
        </>
      )}
      {verdict.kind === 'stuck' && verdict.expected.length > 0 && (
        <>
          {' '}
          Expected was{' '}
          {brief(
            verdict.expected
              .slice(0, 3)
              .map(each => each.map(field => field.value).join(', ') || 'no result')
              .join(' or '),
            160,
          )}
          {verdict.expected.length > 3 || verdict.expects_more ? ', among others' : ''}.
        </>
      )}
      {verdict.kind === 'stuck' && <When report={report} legal={verdict.legal} />}
    </p>
  );
}

function When({ report, legal }: { report: Report; legal: Legal }) {
  if (legal.kind === 'unknown') return null;
  if (legal.kind === 'earlier') {
    return (
      <>
        {' '}
        It would have been legal <b>earlier</b>, until <Op report={report} op={legal.until} /> took effect: what it saw
        is <b>stale</b>.
      </>
    );
  }
  if (legal.kind === 'later') {
    return (
      <>
        {' '}
        It would have been legal <b>later</b>, after <Op report={report} op={legal.after} />: what it saw is{' '}
        <b>from the future</b>.
      </>
    );
  }
  return (
    <>
      {' '}
      It would <b>never</b> have been legal nearby: {many(legal.looked_at, 'operation')} before and after were tried.
    </>
  );
}

function capital(text: string): string {
  // Names of operations stay as they are.
  return /^[a-z]+\s/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
