// The verdict in one sentence, one line of proof, and buttons: the place of the rule, the details of the check, sharing.
//
// Inconclusive is a separate verdict: neither red nor green, and never worded as a rejection.

import { signal } from '@preact/signals';
import { COMMANDS } from '../commands.ts';
import { cutMiddle } from '../data/short.ts';
import type { Report, Run, RunHead, Span } from '../data/types.ts';
import { failingOps, verdictView } from '../data/verdict.ts';
import { focus, isStale } from '../state.ts';
import { base, brief, count, many, seconds } from '../text.ts';
import { Checked } from './anomaly.tsx';
import { Dropdown, type Item, MenuButton } from './dropdown.tsx';
import { Evidence } from './evidence.tsx';
import { besideFailure, endingOf, headline } from './headline.ts';
import { RAW } from './logged.tsx';
import { capital, Fact, Op, Path, Place, Sentence } from './parts.tsx';
import { Settings } from './settings.tsx';
import { HelpButton } from './toolbar.tsx';

const ORDER: Record<Report['order'], string> = { 'real-time': 'real time', program: 'program order', none: 'none' };
const [sharing, detailed] = [signal(false), signal(false)];

export function Banner({ head }: { head: RunHead }) {
  const { report, assumed = [] } = head;
  const { sign, word, sentence, tone } = headline(report, assumed, head.run);
  const span = ruleOf(report);
  return (
    <header class={`banner ${isStale.value ? 'quiet' : tone}`}>
      <div class="verdict">
        {isStale.value && (
          <p role="status">
            <b>Rechecking…</b> The verdict below is the previous one and does not yet apply to{' '}
            {focus.value.length === 0 ? 'the history without assumptions' : <Assumed texts={focus.value} />}.
          </p>
        )}
        <h1>
          {isStale.value && 'Previously: '}
          <span aria-hidden="true">{sign}</span>{' '}
          <span class={sentence && tone === 'bad' ? 'offscreen' : ''}>
            <Sentence text={word} width={240} />
            {sentence && ': '}
          </span>
          {sentence && <Sentence text={sentence} width={400} />}
        </h1>
        <Proof report={report} run={head.run} />
        {assumed.length > 0 && (
          <p>
            Holds only under {many(assumed.length, 'assumption')}: <Assumed texts={assumed} />
          </p>
        )}
        {report.history.cuts.length > 0 && endingOf(report, head.run) !== 'stuck' && (
          <p>
            ✂ The trace is truncated: {brief(report.history.cuts[0]!, 300)}
            {report.history.cuts.length > 1 && `, and in ${many(report.history.cuts.length - 1, 'more place')}`}
          </p>
        )}
      </div>
      <div class="tools" role="group" aria-label="About this check">
        {span && <Place report={report} span={span} kind="" />}
        <span class="name" title={brief(report.history.name, 400)}>
          {cutMiddle(base(report.history.name), 32)}
        </span>
        <Details head={head} />
        <Share />
        <Settings />
        <HelpButton />
      </div>
    </header>
  );
}

/** The place of the rule that is broken: the conjunct that is false first, or the invariant. */
function ruleOf(report: Report): Span | null {
  const verdict = verdictView(report);
  if (verdict.kind === 'invariant') return verdict.span;
  if (verdict.kind !== 'stuck') return null;
  const why = verdict.reasons.find(each => verdict.blocked.includes(each.op) && each.why.kind === 'guard')?.why;
  if (why?.kind !== 'guard') return null;
  return why.conjuncts.find(each => each.outcomes.includes('false'))?.span ?? why.span;
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

/** `13 of 24 operations`. */
function operations(report: Report, n: number): string {
  const total = report.history.operations;
  return total === null ? many(n, 'operation') : `${count(n)} of ${many(total, 'operation')}`;
}

/** The line of proof: what the report says beside its sentence or, without that, how far the check came. */
function Proof({ report, run }: { report: Report; run: Run | null }) {
  const verdict = verdictView(report);
  if (endingOf(report, run)) {
    return (
      <p>
        <Sentence text={besideFailure(report, run)} width={400} />
      </p>
    );
  }
  if (report.history.operations === 0) {
    return <p>The trace is empty: check that the program was linked with the recorder and that it ran.</p>;
  }
  if (verdict.kind === 'accepted' && report.isolation) return <Checked report={report} isolation={report.isolation} />;
  if (verdict.kind === 'accepted') return <Evidence report={report} />;
  if (verdict.kind === 'inconclusive') {
    return <p>No violation was found until then: {operations(report, report.stats.returned)} had returned.</p>;
  }
  if (report.closest_run) {
    const { calls } = report.closest_run;
    return (
      <p>OmniLink ran the {many(calls.length, 'call')} of this test in every serial order: none has these answers.</p>
    );
  }
  // The chain of a contradiction beside it says the same, unless a level has a word for it.
  if (verdict.kind === 'contradiction' && !report.level) return null;
  if (verdict.details) {
    return (
      <p>
        <Sentence text={verdict.details} width={400} />
      </p>
    );
  }
  const [failing] = failingOps(verdict, report.operations);
  if (failing === undefined) return null;
  return (
    <p>
      <Op report={report} op={failing} />: {operations(report, verdict.explained)}{' '}
      {verdict.kind === 'stuck' && report.order === 'real-time' ? 'have an order before it.' : 'have an order.'}
    </p>
  );
}

/** The facts about the check, and its notes, on demand. */
function Details({ head }: { head: RunHead }) {
  const { report, run, assumed = [] } = head;
  const { spec, history, stats } = report;
  const verdict = verdictView(report);
  // Assumptions are in the banner, lines of a log in the side panel.
  const isShown = (note: string) =>
    RAW.test(note) || (assumed.length > 0 && assumed.every(each => note.includes(each)));
  const notes = report.notes.filter(note => !isShown(note));
  const facts: [name: string, value: string][] = [
    ...(report.tags ?? []).map((tag): [string, string] => ['known as', tag]),
    [report.isolation ? 'level' : 'specification', spec.name],
    ...spec.constants.map(({ name, value }): [string, string] => [name, value]),
    ['trace', history.name],
    ['processes', count(history.processes)],
    ...(history.operations === null ? [] : [['operations', count(history.operations)] as [string, string]]),
    ...('explained' in verdict && verdict.kind !== 'anomaly'
      ? [['explained', operations(report, verdict.explained)] as [string, string]]
      : []),
    ['order', ORDER[report.order]],
    ...(report.level ? [['level', report.level.name] as [string, string]] : []),
    ...(stats.method ? [['method', stats.method] as [string, string]] : []),
    ['took', seconds(stats.seconds)],
    ...(run
      ? ([
          ['seed', head.seed ?? String(run.plan.seed)],
          ['run', run.id],
        ] as [string, string][])
      : []),
    ['tool', head.tool],
  ];
  return (
    <Dropdown
      open={detailed}
      name="Details"
      title="What was checked, and how"
      sign={notes.length > 0 ? `Details, ${many(notes.length, 'note')} ▾` : 'Details ▾'}
      first=".menu"
    >
      <div class="menu details" tabIndex={-1}>
        <dl>
          {facts.map(([name, value]) => (
            <Fact name={brief(name, 30)}>
              <Path text={value} width={400} />
            </Fact>
          ))}
        </dl>
        {notes.slice(0, 20).map(note => (
          <p>
            <Sentence text={capital(note)} width={600} />
          </p>
        ))}
      </div>
    </Dropdown>
  );
}

function Share() {
  const items = COMMANDS.filter(each => each.group === 'Share' && each.when()).map(
    ({ title, run }): Item => [title, run],
  );
  return <MenuButton open={sharing} name="Share" title="Share: link, Markdown, image, print" items={items} />;
}
