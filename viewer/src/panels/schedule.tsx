// The tab with the steps of a controlled execution: a column for each thread, a row for each step inside an operation.

import type { InterleavedStep, Interleaving } from '../data/types.ts';
import { report } from '../state.ts';
import { brief, many } from '../text.ts';

/** Rows shown at once; a schedule with more steps is best made smaller. */
const MOST = 1000;

export function ScheduleTab() {
  const shown = report.value?.interleaving;
  if (!shown) return <p class="empty">No schedule.</p>;
  const steps = shown.steps.slice(0, MOST);
  const before = (shown.steps[0]?.number ?? 1) - 1;
  return (
    <div class="padded">
      {shown.necessary && <p>{brief(shown.necessary, 600)}</p>}
      {(shown.waits ?? []).length > 0 && (
        <ul class="waits">
          {shown.waits?.map(wait => (
            <li>{brief(wait, 300)}</li>
          ))}
        </ul>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label="Steps by thread">
        <table class="schedule">
          <thead>
            <tr>
              <th scope="col">step</th>
              {shown.threads.map(name => (
                <th scope="col">{brief(name, 40)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Folded shown={shown} count={before} where="before" />
            {steps.map((step, at) => (
              <Row shown={shown} step={step} previous={steps[at - 1]} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.steps.length > MOST && <p class="quiet">{many(shown.steps.length - MOST, 'more step')}</p>}
      <p class="quiet">
        {many(shown.total, 'step')} in all, {many(shown.preemptions, 'preemption')}. Marked steps are accesses of
        different threads whose order matters.
      </p>
    </div>
  );
}

/** Steps that are counted instead of shown. */
function Folded({ shown, count, where }: { shown: Interleaving; count: number; where: string }) {
  if (count <= 0) return null;
  return (
    <tr class="folded">
      <td />
      <td colSpan={shown.threads.length}>
        {many(count, 'step')} {where}
      </td>
    </tr>
  );
}

function Row({
  shown,
  step,
  previous,
}: {
  shown: Interleaving;
  step: InterleavedStep;
  previous: InterleavedStep | undefined;
}) {
  const skipped = previous ? step.number - previous.number - 1 : 0;
  return (
    <>
      <Folded shown={shown} count={skipped} where="outside operations" />
      {step.preempts && (
        <tr class="switch">
          <td />
          <td colSpan={shown.threads.length}>switch to {brief(shown.threads[step.thread] ?? '', 40)}</td>
        </tr>
      )}
      <tr>
        <td class="number">{step.number}</td>
        {shown.threads.map((_, thread) => (
          <td>{thread === step.thread && <Step step={step} />}</td>
        ))}
      </tr>
    </>
  );
}

const MARKS = { call: '\u25b6 ', return: '\u25c0 ', inside: '' };

function Step({ step }: { step: InterleavedStep }) {
  const kind = step.fails ? 'step bad' : step.meets ? 'step meets' : `step ${step.kind}`;
  const effect = [step.does, step.value].filter(Boolean).join(' ');
  const mark = step.fails ? '\u2717 ' : MARKS[step.kind];
  return (
    <div class={kind} title={brief([step.text, step.function].filter(Boolean).join(' in '), 300)}>
      <code>
        {mark}
        {brief(step.text, 200)}
      </code>
      {effect && <span class="effect">{brief(effect, 80)}</span>}
      {step.place && <span class="place">{brief(step.place.split('/').at(-1) ?? '', 60)}</span>}
    </div>
  );
}
