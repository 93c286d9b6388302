// The tab with the steps of a controlled execution: a column for each thread, or one on a narrow page. The accesses of a
// data race, which are no steps, are between them. A step, its line of the program and its operation are selected together.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Access, accessesOf, accessOf, operationsOf, statementOf, waitsOf } from '../data/schedule.ts';
import type { InterleavedStep, Interleaving } from '../data/types.ts';
import { history, report, run, selection } from '../state.ts';
import { base, brief, many } from '../text.ts';
import { endingOf } from './headline.ts';
import { showNamed } from './local.ts';
import { Button, Sentence } from './parts.tsx';

/** Rows shown at once; a schedule with more steps is best made smaller. */
const MOST = 1000;

/** The chosen step, by number. */
export const chosenStep = signal<number | null>(null);

/** A step, or something that is none: an access of a data race, or where a thread waits at the end. */
interface Line {
  thread: number;
  number: number;
  step: InterleavedStep | null;
  odd: { code: string; effect: string; place: string | null; isBad: boolean } | null;
  note?: string;
}

function linesOf(shown: Interleaving, accesses: Access[], isStuck: boolean): Line[] {
  const { threads, steps, total } = shown;
  const lines: Line[] = steps.map(step => ({ thread: step.thread, number: step.number, step, odd: null }));
  for (const access of accesses) {
    const { line, does, place, after } = access;
    const thread = threads.indexOf(access.thread);
    const before = lines.findLastIndex(({ number }) => number <= after);
    const odd = { code: line ? accessOf(line) : does, effect: line ? does : '', place, isBad: true };
    const note = access === accesses.at(-1) ? 'No lock, atomic access or join orders these two.' : '';
    // After the first race of a campaign, its accesses are steps too.
    const isStep = lines[before]?.thread === thread && lines[before].step?.place === place;
    const number = isStep ? lines[before]!.number : after;
    lines.splice(before + 1 - Number(isStep), Number(isStep), { thread, number, step: null, odd, note });
  }
  for (const { thread, does, place, lock, holder } of waitsOf(shown)) {
    const code = lock ? `waits for ${lock}${holder ? ` of ${holder.thread}` : ''}` : does;
    const odd = { code, effect: '', place, isBad: isStuck };
    lines.push({ thread: threads.indexOf(thread), number: total, step: null, odd });
  }
  return lines.filter(({ thread }) => thread >= 0);
}

export function ScheduleTab() {
  const list = useRef<HTMLOListElement>(null);
  const shown = report.value?.interleaving;
  const chosen = chosenStep.value;
  useEffect(() => {
    const panel = list.current?.closest('.panel');
    const mark = panel?.querySelector('.chosen') ?? panel?.querySelector('.step.bad');
    if (!panel || !mark) return;
    const [outer, inner] = [panel.getBoundingClientRect(), mark.getBoundingClientRect()];
    if (inner.top < outer.top + 40 || inner.bottom > outer.bottom - 20)
      panel.scrollTop += inner.top - outer.top - outer.height / 2;
  }, [shown, chosen]);
  if (!shown) return <p class="empty">No schedule.</p>;
  const { threads, steps, total, preemptions, necessary } = shown;
  const names = operationsOf(shown);
  const of = new Map(steps.map(({ number }, at) => [number, names[at] ?? null]));
  const selected = selection.value === null ? null : (history.value?.name(selection.value) ?? null);
  const kept = run.value?.run ?? null;
  const lines = linesOf(shown, accessesOf(kept, shown), endingOf(report.value!, kept) === 'stuck');
  const open = threads.map(() => false);
  let previous = 0;
  return (
    <div class="padded">
      <ol class="schedule" ref={list} style={{ '--lanes': threads.length }} aria-label="Steps by thread">
        <li class="threads" aria-hidden="true">
          <span class="number">step</span>
          {threads.map((name, lane) => (
            <b style={{ gridColumn: lane + 2 }}>{brief(name, 40)}</b>
          ))}
        </li>
        {lines.slice(0, MOST).map(({ thread, number, step, odd, note }, at) => {
          const skipped = step ? number - previous - 1 : 0;
          previous = number;
          const lanes = threads.flatMap((_, lane) =>
            open[lane] && lane !== thread ? [<i style={{ gridColumn: lane + 2 }} />] : [],
          );
          if (step) open[thread] = step.kind !== 'return';
          const name = brief(threads[thread] ?? '', 40);
          const isOf = selected !== null && of.get(number) === selected;
          return (
            <>
              {skipped > 0 && (
                <li class="folded">
                  <span>
                    {many(skipped, 'step')} {at === 0 ? 'before' : 'outside operations'}
                  </span>
                </li>
              )}
              {(step?.preempts || step?.needed) && (
                <li class={`switch ${step?.needed ? 'needed' : ''}`}>
                  <span style={{ gridColumn: thread + 2 }}>
                    ↳ switch to {name}
                    {step.needed && <b>, necessary</b>}
                  </span>
                </li>
              )}
              <li class={step !== null && number === chosen ? 'chosen' : ''}>
                <span class="number">{step && number}</span>
                <span class="who">{name}</span>
                {lanes}
                {step ? (
                  <Step step={step} lane={thread} isOf={isOf} operation={of.get(number) ?? null} />
                ) : (
                  odd && <Odd {...odd} lane={thread} />
                )}
              </li>
              {note && (
                <li class="note">
                  <span>{note}</span>
                </li>
              )}
            </>
          );
        })}
      </ol>
      <p class="quiet">
        {lines.length > MOST && `${many(lines.length - MOST, 'more step')}. `}
        {many(total, 'step')} in all, {many(preemptions, 'preemption')}
        {necessary && (
          <>
            : <Sentence text={necessary} width={600} />
          </>
        )}
        .{steps.some(({ meets }) => meets) && ' Steps with a blue edge are accesses whose order matters.'}
      </p>
    </div>
  );
}

/** Selects a step, and its operation in the timeline. */
async function choose(number: number, operation: string | null): Promise<void> {
  chosenStep.value = number;
  if (operation !== null) await showNamed(operation);
}

const MARKS = { call: '▶ ', return: '◀ ', inside: '' };

function Step({ step, lane, isOf, operation }: StepProps) {
  const { code, effect } = statementOf(step);
  const kind = step.fails ? 'bad' : step.meets ? 'meets' : step.kind;
  return (
    <Button
      class={`step ${kind} ${isOf ? 'of' : ''}`}
      style={{ gridColumn: lane + 2 }}
      title={brief([step.text, step.function].filter(Boolean).join(' in '), 300)}
      onClick={() => void choose(step.number, operation)}
    >
      <code>
        {step.fails ? '✗ ' : MARKS[step.kind]}
        {brief(code, 200)}
      </code>
      {effect && <span class="effect">{brief(effect, 80)}</span>}
      {step.place && <span class="place">{brief(base(step.place), 60)}</span>}
    </Button>
  );
}

interface StepProps {
  step: InterleavedStep;
  lane: number;
  isOf: boolean;
  /** Its operation, such as `T1:3`. */
  operation: string | null;
}

function Odd({ code, effect, place, isBad, lane }: NonNullable<Line['odd']> & { lane: number }) {
  return (
    <div class={`step ${isBad ? 'bad' : ''}`} style={{ gridColumn: lane + 2 }}>
      <code>
        {isBad && '✗ '}
        {brief(code, 200)}
      </code>
      {effect && <span class="effect">{brief(effect, 60)}</span>}
      {place && <span class="place">{brief(base(place), 60)}</span>}
    </div>
  );
}
