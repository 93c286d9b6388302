// The side panel: what the selected operation missed, the smallest failing part, reasons, possible states, expected
// results, what-ifs, next commands.

import type { Assumption, Consequence, Field, Report } from '../data/types.ts';
import { type StuckView, type ViewsView, verdictView } from '../data/verdict.ts';
import { allAssumed, history } from '../state.ts';
import { brief, count, many } from '../text.ts';
import { assumptions } from './focus.ts';
import { besideFailure, failureOf, whyTitle } from './headline.ts';
import { Command, Copy, capital, Few, Op, Section, Sentence } from './parts.tsx';
import { Possible } from './states.tsx';
import { Value } from './value.tsx';
import { AllMissed, Missed, Unexplained } from './views.tsx';
import { Reasons, Violated } from './why.tsx';
import { Window } from './window.tsx';
import { assumptionText, checkAgain, nameOf, outcomeText } from './words.ts';

/** The side panel. */
export function Side({ report }: { report: Report }) {
  const verdict = verdictView(report);
  const none = report.history.operations === 0;
  const failure = failureOf(report);
  return (
    <aside id="why" class="side" tabIndex={-1} aria-label="Explanation">
      <Missed />
      {verdict.kind === 'stuck' && <Stuck report={report} stuck={verdict} />}
      {verdict.kind === 'contradiction' && (
        <>
          <Window report={report} window={{ start: [], operations: verdict.operations, before: 0 }} blocked={[]} />
          <Section id="h-why" title="Why it is rejected">
            <article class="card bad">
              <p>These operations contradict each other, regardless of all others.</p>
            </article>
          </Section>
        </>
      )}
      {verdict.kind === 'invariant' && (
        <>
          <Section id="h-why" title="Why it is violated">
            <Violated report={report} violation={verdict} />
          </Section>
          <Section id="h-states" title="States that violate it">
            <Possible states={verdict.states} choosable={[]} />
          </Section>
        </>
      )}
      {verdict.kind === 'views' && <Views report={report} rejection={verdict} />}
      {failure && (
        <Section id="h-why" title={whyTitle(report)}>
          <article class="card bad">
            <p>
              <Sentence text={capital(failure)} width={600} />
            </p>
            <p class="quiet">
              <Sentence text={besideFailure(report)} width={600} />
            </p>
          </article>
        </Section>
      )}
      {!none && !failure && verdict.kind === 'inconclusive' && (
        <Section id="h-why" title={whyTitle(report)}>
          <article class="card odd">
            <p>
              <Sentence text={capital(verdict.stop)} width={600} />.
            </p>
            <p class="quiet">
              No violation was found, but the history is not proven correct. {many(report.stats.returned, 'operation')}{' '}
              had returned by then.
            </p>
          </article>
          <Widest report={report} />
          <article class="card">
            <h3>What can help</h3>
            <ul class="hints">
              <li>
                Record tighter timeboxes where the search was widest: operations that do not overlap have one order
                only.
              </li>
              <li>Run the check longer, or with more memory.</li>
              <li>Record fewer concurrent operations, or split the history by independent keys.</li>
              <li>Record missing results: the search does not have to guess a recorded value.</li>
            </ul>
          </article>
        </Section>
      )}
      {none && !failure && (
        <Section id="h-why" title="What to do">
          <article class="card">
            <p>
              An empty history has no meaningful verdict. Record the program again, and make sure that the checked
              directory contains the files of its processes.
            </p>
          </article>
        </Section>
      )}
      {!none && !failure && verdict.kind === 'accepted' && (
        <Section id="h-why" title={whyTitle(report)}>
          <article class="card good">
            {report.level ? (
              <p>
                The check found an order of the operations
                {report.order === 'real-time' && ' that respects their timeboxes'}, and for each the operations before
                it that it saw. Each returned what the specification returns after these. The level{' '}
                <code>{brief(report.level.name, 120)}</code> says what an operation may miss.
              </p>
            ) : (history.value?.timeline.steps ?? 0) > 0 ? (
              <p>
                The check found an order of the operations that the specification allows and that respects their{' '}
                {history.value?.hasPoints ? 'times and clocks' : 'timeboxes'}. The order was replayed step by step,
                without searching; the Steps tab lists it, newest first.
              </p>
            ) : (
              <p>
                There is an order of the operations that the specification allows and that respects their timeboxes. It
                is not in this page. Method: {brief(report.stats.method, 200)}.
              </p>
            )}
          </article>
          <AllMissed report={report} />
          <Widest report={report} />
        </Section>
      )}
      <Next report={report} />
    </aside>
  );
}

/** A smallest part of at most this many operations comes before the reasons. */
const SHORT = 12;

function Stuck({ report, stuck }: { report: Report; stuck: StuckView }) {
  const choosable = stuck.states.map((_, state) => stuck.interpretations.findIndex(each => each.state === state));
  const part = stuck.window && <Window report={report} window={stuck.window} blocked={stuck.blocked} />;
  // A long part would hide the reasons.
  const isShort = (stuck.window?.operations.length ?? 0) <= SHORT;
  return (
    <>
      {isShort && part}
      <Section id="h-why" title="Why it is rejected">
        <Reasons report={report} reasons={stuck.reasons} blocked={stuck.blocked} total={stuck.states.length} />
      </Section>
      {!isShort && part}
      {stuck.states.length > 0 && (
        <Section id="h-states" title="Possible states">
          <p class="quiet lead">
            {stuck.states.length === 1
              ? 'One state explains all operations before it.'
              : stuck.groups && stuck.groups.length > 0
                ? `${count(stuck.states.length)} states explain all operations before it, by the values that decide.`
                : `${count(stuck.states.length)} states explain all operations before it. Differences are marked.`}
          </p>
          <Possible states={stuck.states} choosable={choosable} groups={stuck.groups} />
        </Section>
      )}
      <Expected report={report} stuck={stuck} />
      {stuck.what_ifs.length > 0 && (
        <Section id="h-ifs" title="What if (rechecked)">
          <ul class="card ifs">
            {stuck.what_ifs.map(each => (
              <li>
                <strong>{assumptionText(report, each.assumption)}</strong>:{' '}
                <Outcome report={report} outcome={each.outcome} assumption={each.assumption} from={stuck.explained} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Views({ report, rejection }: { report: Report; rejection: ViewsView }) {
  const { views, holds } = rejection;
  const [first] = views;
  const operations = first ? [...new Set([...first.must_see, ...first.may_miss, first.op])] : [];
  return (
    <>
      <Window
        report={report}
        window={{ start: [], operations, before: 0 }}
        blocked={rejection.blocked}
        title={`Last operations that ${first ? nameOf(report, first.op) : 'it'} may see`}
      />
      <Section id="h-why" title="Why it is rejected">
        {views.map(view => (
          <Unexplained report={report} view={view} />
        ))}
        {holds !== null && (
          <article class="card good">
            <p>
              At the level <code>{brief(holds, 120)}</code> the history is accepted.
            </p>
          </article>
        )}
      </Section>
      {views.map(
        ({ op, states }, at) =>
          states.length > 0 && (
            <Section id={`h-states-${at}`} title={`States that ${nameOf(report, op)} may see`}>
              <p class="quiet lead">
                {states.length === 1 ? 'One state.' : `One of ${count(states.length)} states. Differences are marked.`}
              </p>
              <Possible states={states} choosable={[]} />
            </Section>
          ),
      )}
    </>
  );
}

function fields(values: Field[]) {
  return values.map((field, at) => (
    <>
      {at > 0 && ', '}
      {field.name && <>{brief(field.name, 40)} = </>}
      <Value text={field.value} width={200} />
    </>
  ));
}

function Expected({ report, stuck }: { report: Report; stuck: StuckView }) {
  const { expected, expects_more, blocked } = stuck;
  if (expected.length === 0) return null;
  const got = report.operations[blocked[0] ?? -1];
  return (
    <Section id="h-expected" title="Expected instead">
      <div class="card expected">
        <p>
          {expected.slice(0, 12).map((results, at) => (
            <>
              {at > 0 && (at === Math.min(expected.length, 12) - 1 && !expects_more ? ' or ' : ', ')}
              <code class="good">{results.length === 0 ? 'no result' : fields(results)}</code>
            </>
          ))}
          {(expects_more || expected.length > 12) && ' or others'}
          {got && got.results.length > 0 && (
            <>
              {' '}
              instead of <code class="bad">{fields(got.results)}</code>
            </>
          )}
        </p>
      </div>
    </Section>
  );
}

function Outcome({
  report,
  outcome,
  assumption,
  from,
}: {
  report: Report;
  outcome: Consequence;
  assumption: Assumption;
  from: number;
}) {
  const blocked = outcome.kind === 'rejected' ? outcome.blocked : null;
  const bare = outcome.kind === 'rejected' ? { ...outcome, blocked: null } : outcome;
  const sign = outcome.kind === 'accepted' ? '✓ ' : '';
  return (
    <>
      {sign}
      {brief(outcomeText(report, bare, assumption, from), 400)}
      {blocked !== null && (
        <>
          {' '}
          at <Op report={report} op={blocked} />
        </>
      )}
    </>
  );
}

/** Where the most configurations were possible at once, and the operations that overlap there. */
export function Widest({ report }: { report: Report }) {
  const { widest } = report.stats;
  if (!widest) return null;
  return (
    <article class="card">
      <h3>Where the search was widest</h3>
      <p>
        {many(widest.width, 'configuration')} were possible at once
        {widest.at !== null && (
          <>
            {' '}
            when <Op report={report} op={widest.at} /> returned
          </>
        )}
        .
      </p>
      {widest.in_flight.length > 0 && (
        <details>
          <summary>{many(widest.in_flight.length, 'timebox overlaps', 'timeboxes overlap')} there</summary>
          <ul class="ops">
            <Few
              items={widest.in_flight}
              most={40}
              draw={op => (
                <li>
                  <Op report={report} op={op} />
                </li>
              )}
            />
          </ul>
        </details>
      )}
    </article>
  );
}

function Next({ report }: { report: Report }) {
  // A page has all that `check --full` prints, which earlier reports call `explain`.
  const next = report.next.filter(each => !/^omnilink (check --full|explain) /.test(each.line));
  if (next.length === 0) return null;
  const check = assumptions.value.length > 0 ? checkAgain(report, allAssumed.value) : null;
  return (
    <Section id="h-next" title="Next">
      <ul class="card commands">
        {next.map(each => (
          <Command what={each.what} line={each.line} />
        ))}
        {check && <Command what="recheck under these assumptions" line={check} />}
      </ul>
      {next.length > 1 && <Copy text={next.map(each => each.line).join('\n')} what="all commands" label="Copy all" />}
    </Section>
  );
}
