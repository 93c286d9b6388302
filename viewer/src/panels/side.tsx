// The side panel: what the selected operation missed, the rule that is broken, what would make it legal, the possible
// states, and the next commands.

import type { Report, RunHead } from '../data/types.ts';
import { type StuckView, type ViewsView, verdictView } from '../data/verdict.ts';
import { allAssumed } from '../state.ts';
import { brief, count } from '../text.ts';
import { Cycle, Levels } from './anomaly.tsx';
import { Chain } from './contradiction.tsx';
import { ChosenStep, Race, Waits } from './controlled.tsx';
import { assumptions } from './focus.ts';
import { endingOf } from './headline.ts';
import { Legal } from './legal.tsx';
import { LoggedLine } from './logged.tsx';
import { Command, Copy, Section } from './parts.tsx';
import { Possible } from './states.tsx';
import { AllMissed, Missed, Unexplained } from './views.tsx';
import { Reasons, Violated } from './why.tsx';
import { checkAgain, nameOf } from './words.ts';

const RULE = 'The rule it breaks';

export function Side({ head: { report, run } }: { head: RunHead }) {
  const verdict = verdictView(report);
  const failure = endingOf(report, run);
  const shown = report.interleaving;
  const none = report.history.operations === 0;
  return (
    <aside id="why" class="side" tabIndex={-1} aria-label="Explanation">
      <Missed />
      {shown && <ChosenStep shown={shown} />}
      {failure === 'race' && run && <Race run={run} shown={shown} />}
      {failure === 'stuck' && shown && <Waits shown={shown} />}
      {failure !== 'stuck' && verdict.kind === 'stuck' && <Stuck report={report} stuck={verdict} />}
      {verdict.kind === 'contradiction' && (
        <Section id="h-why" title="Why they contradict each other">
          <Chain report={report} operations={verdict.operations} />
        </Section>
      )}
      {verdict.kind === 'invariant' && (
        <>
          <Section id="h-why" title={RULE}>
            <Violated report={report} violation={verdict} />
          </Section>
          <Section id="h-states" title="States that violate it">
            <Possible states={verdict.states} choosable={[]} />
          </Section>
        </>
      )}
      {verdict.kind === 'anomaly' && <Cycle report={report} />}
      {verdict.kind === 'views' && <Views report={report} rejection={verdict} />}
      {none && !failure && (
        <Section id="h-why" title="What to do">
          <p class="card">Record the program again, and make sure that the directory has the files of its processes.</p>
        </Section>
      )}
      {!none && !failure && verdict.kind === 'accepted' && (
        <Section id="h-why" title="Why it is accepted">
          <p class="card good">
            The {report.isolation ? 'run' : 'order'} that was found is in the tab Steps, newest first. OmniLink replayed
            it step by step, without searching.
          </p>
          <AllMissed report={report} />
        </Section>
      )}
      {report.isolation && <Levels isolation={report.isolation} />}
      <Next report={report} />
      {!none && !failure && verdict.kind === 'inconclusive' && !report.isolation && (
        <Section id="h-help" title="What else can help">
          <ul class="card hints">
            <li>Tighter timeboxes: operations that do not overlap have one order only.</li>
            <li>Fewer concurrent operations, or a history split by independent keys.</li>
            <li>Recorded results: the search does not have to guess them.</li>
          </ul>
        </Section>
      )}
    </aside>
  );
}

function Stuck({ report, stuck }: { report: Report; stuck: StuckView }) {
  const { states, blocked, reasons } = stuck;
  const choosable = states.map((_, state) => stuck.interpretations.findIndex(each => each.state === state));
  return (
    <>
      <Section id="h-why" title={report.closest_run ? 'Why no serial run explains it' : RULE}>
        <Reasons report={report} reasons={reasons} blocked={blocked} total={report.closest_run ? 1 : states.length} />
      </Section>
      <LoggedLine report={report} />
      <Legal report={report} stuck={stuck} />
      {states.length > 0 && !report.closest_run && (
        <Section
          id="h-states"
          title="Possible states before it"
          note={states.length === 1 ? 'the only one' : `${count(states.length)}, which differ`}
        >
          <Possible states={states} choosable={choosable} groups={stuck.groups} />
        </Section>
      )}
    </>
  );
}

function Views({ report, rejection: { views, holds } }: { report: Report; rejection: ViewsView }) {
  return (
    <>
      <Section id="h-why" title={RULE}>
        {views.map(view => (
          <Unexplained report={report} view={view} />
        ))}
        {holds !== null && (
          <p class="card good">
            At the level <code>{brief(holds, 120)}</code> the history is accepted.
          </p>
        )}
      </Section>
      {views.map(
        ({ op, states }, at) =>
          states.length > 0 && (
            <Section
              id={`h-states-${at}`}
              title={`States that ${nameOf(report, op)} may see`}
              note={states.length === 1 ? 'the only one' : `${count(states.length)}, which differ`}
            >
              <Possible states={states} choosable={[]} />
            </Section>
          ),
      )}
    </>
  );
}

function Next({ report }: { report: Report }) {
  // A page has all that `check --full` prints, which earlier reports call `explain`.
  const next = report.next.filter(each => !/^omnilink (check --full|explain) /.test(each.line));
  const check = assumptions.value.length > 0 ? checkAgain(report, allAssumed.value) : null;
  if (next.length === 0 && !check) return null;
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
