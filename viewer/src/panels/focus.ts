// Assumptions of the user, and their effect.
//
// A server rechecks under them. Until it answers, the displayed verdict is the previous one; if it refuses, the
// previous assumptions are restored. A file cannot recheck: there, an assumption hides the interpretations that violate
// it. That is exact for the interpretations in the file, but does not affect the verdict.

import { computed, effect, signal } from '@preact/signals';
import { type Assumption, keeps, namesIn, read, type Way, write } from '../data/assumption.ts';
import type { History } from '../data/history.ts';
import {
  blocked,
  ending,
  firstStepOf,
  focus,
  history,
  problem,
  refresh,
  run,
  showFailure,
  states,
  stepAt,
  stepOf,
} from '../state.ts';
import { announce, liveHistory, shownOf } from './local.ts';

export const assumptions = focus;

/** The first operation of an order assumption, while the second is being chosen. */
export const pending = signal<{ name: string; before: boolean } | null>(null);

/** The places of the operations that assumptions name, once all their steps are loaded. */
const places = signal<Map<string, number>>(new Map());

export const isChecked = computed(() => run.value?.served?.assume ?? false);

/** For each interpretation, whether it satisfies all assumptions; null if undecided. */
const kept = computed<(boolean | null)[]>(() => {
  const known = assumptions.value.map(read).filter(each => each !== null);
  return (states.value?.part.endings ?? []).map((_, way) => {
    const found = known.map(each => keepsIn(each, way));
    return found.includes(false) ? false : found.includes(null) ? null : true;
  });
});

/** The interpretations that may satisfy the assumptions; null without assumptions, or if a server has filtered. */
export const fitting = computed<number[] | null>(() => {
  if (assumptions.value.length === 0 || isChecked.value || !states.value) return null;
  return kept.value.flatMap((fits, way) => (fits === false ? [] : [way]));
});

/** Whether an interpretation satisfies an assumption; null if undecided. */
function keepsIn(assumption: Assumption, ending: number): boolean | null {
  liveHistory();
  const known = places.value;
  if (!namesIn(assumption).every(name => known.has(name))) return null;
  const way: Way = {
    begins: name => firstStepOf(known.get(name)!, ending),
    over: name => {
      const last = stepOf(known.get(name)!, ending);
      return last === null || stepAt(last, ending)?.partway ? null : last;
    },
    idAfter: step => states.value?.id(step + 1, ending) ?? null,
  };
  return keeps(assumption, way);
}

/** Adds an assumption if it is valid, else reports the problem. */
export async function assume(text: string): Promise<void> {
  const assumption = read(text);
  const wrong = await refusal(text);
  if (wrong !== null || !assumption) {
    problem.value = wrong;
    return;
  }
  const written = write(assumption);
  if (!assumptions.value.includes(written)) await setAssumptions([...assumptions.value, written]);
}

export function drop(text: string): void {
  void setAssumptions(assumptions.value.filter(each => each !== text));
}

export function dropAll(): void {
  void setAssumptions([]);
}

export async function setAssumptions(next: string[]): Promise<void> {
  assumptions.value = next;
  problem.value = null;
  if (!isChecked.value) return;
  const stuck = blocked.value;
  if ((await refresh()) && blocked.value !== stuck) showFailure();
}

/** Why an assumption is invalid; null if it is valid. */
async function refusal(text: string): Promise<string | null> {
  const assumption = read(text);
  if (!assumption) {
    return `\`${text}\` is not an assumption: expected \`T0:12 < T3:7\`, or \`T3:7 = 1a2b3c4d5e6f\` for the state after \`T3:7\``;
  }
  for (const name of namesIn(assumption)) {
    if ((await history.value?.place(name)) == null) return `no operation \`${name}\``;
  }
  return null;
}

/** How many interpretations of a file satisfy the assumptions, in words. */
export function verdictOfFit(): string {
  const total = states.value?.part.endings.length ?? 0;
  const fit = fitting.value;
  if (fit === null) return 'no assumptions';
  const names = assumptions.value.map(read).flatMap(each => (each ? namesIn(each) : []));
  if (!names.every(name => places.value.has(name))) return 'filtering orders…';
  const open = kept.value.includes(null) ? ', as far as the states in this file show' : '';
  return `${fit.length} of ${shownOf(total)} orders fit${open}`;
}

/** In a file, finds the operations that assumptions name, and drops invalid assumptions of a link. */
async function locate(past: History, texts: string[]): Promise<void> {
  const found = new Map<string, number>();
  const wrong: string[] = [];
  for (const text of texts) {
    const why = await refusal(text);
    if (why !== null) wrong.push(text);
    if (why !== null) problem.value = why;
    for (const name of why === null ? namesIn(read(text)!) : []) found.set(name, (await past.place(name))!);
  }
  await past.ensureSteps(0, past.timeline.steps - 1);
  if (past !== history.value || texts !== assumptions.value) return;
  places.value = found;
  if (wrong.length > 0) assumptions.value = texts.filter(text => !wrong.includes(text));
}

/** Runs `locate` whenever the assumptions or the history change. */
export function followPlaces(): () => void {
  return effect(() => {
    const past = history.value;
    if (past && !isChecked.value && assumptions.value.length > 0) void locate(past, assumptions.value);
  });
}

/** Switches to an interpretation that fits if the chosen one does not, and announces how many fit. */
export function followFit(): () => void {
  return effect(() => {
    const fit = fitting.value;
    if (fit && fit.length > 0 && !fit.includes(ending.peek())) ending.value = fit[0]!;
    // The line of assumptions shows the same text.
    if (fit) announce(verdictOfFit());
  });
}
