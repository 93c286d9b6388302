// Assumptions: `T0:12 < T3:7`, the first takes effect before the second; `T3:7 = 1a2b3c4d`, the state after it.
//
// A server checks again under them. A file cannot: it leaves out the interpretations that do not fit, which is exact
// for the interpretations it holds. An interpretation fits an order if the second operation is not placed, or the
// first is placed before it; it fits a state if the operation is not placed, or leads to that state, or that state is
// not in the file.

import { computed, effect, signal } from '@preact/signals';
import { blocked, ending, focus, history, problem, refresh, run, showFailure, states, stepOf } from '../state.ts';
import { arriving, shownOf, tell } from './local.ts';

export type Assumption = { kind: 'order'; first: string; second: string } | { kind: 'state'; op: string; id: string };

/** What is assumed. */
export const assumptions = focus;

/** The first half of an order, while the second is being chosen. */
export const pending = signal<{ name: string; before: boolean } | null>(null);

/** The places of the operations that assumptions name; null for those that are not there. */
const places = signal<Map<string, number | null>>(new Map());

export function read(text: string): Assumption | null {
  const order = /^\s*(\S.*?\S|\S)\s+<\s+(\S.*?)\s*$/.exec(text);
  if (order) return { kind: 'order', first: order[1]!, second: order[2]! };
  const state = /^\s*(\S.*?)\s+=\s+([0-9a-f]+)\s*$/.exec(text);
  return state ? { kind: 'state', op: state[1]!, id: state[2]! } : null;
}

/** True if a server checks them. */
export const isChecked = computed(() => run.value?.served?.assume ?? false);

/** The interpretations that fit; null if nothing is assumed, or if a server has left out the others. */
export const fitting = computed<number[] | null>(() => {
  const known = assumptions.value.map(read).filter(each => each !== null);
  const endings = states.value?.part.endings ?? [];
  if (known.length === 0 || isChecked.value) return null;
  return endings.map((_, way) => way).filter(way => known.every(each => fits(each, way)));
});

/** Whether an interpretation fits an assumption. */
function fits(assumption: Assumption, way: number): boolean {
  // Steps of common orders arrive in parts.
  arriving();
  const stepIn = (name: string) => {
    const place = places.value.get(name);
    return place == null ? null : stepOf(place, way);
  };
  if (assumption.kind === 'order') {
    const second = stepIn(assumption.second);
    if (second === null) return true;
    const first = stepIn(assumption.first);
    return first !== null && first < second;
  }
  const at = stepIn(assumption.op);
  if (at === null) return true;
  const id = states.value?.id(at + 1, way) ?? null;
  return id === null || id === assumption.id;
}

/** Adds an assumption. */
export function assume(text: string): void {
  if (!assumptions.value.includes(text)) void change([...assumptions.value, text]);
}

export function drop(text: string): void {
  void change(assumptions.value.filter(each => each !== text));
}

export function dropAll(): void {
  void change([]);
}

async function change(next: string[]): Promise<void> {
  const before = assumptions.value;
  assumptions.value = next;
  if (!isChecked.value) {
    await locate();
    return;
  }
  const stuck = blocked.value;
  await refresh();
  // What a server refuses is not assumed: the verdict on the screen is still the one without it.
  if (problem.value !== null) assumptions.value = before;
  else if (blocked.value !== stuck) showFailure();
}

/** What a file can say about assumptions. */
export function verdictOfFit(): string {
  const total = states.value?.part.endings.length ?? 0;
  const fit = fitting.value;
  if (fit === null) return 'no assumptions';
  return `${fit.length} of ${shownOf(total)} interpretations fit`;
}

/** Finds the operations that assumptions name. */
async function locate(): Promise<void> {
  const past = history.value;
  const names = assumptions.value
    .map(read)
    .flatMap(each => (!each ? [] : each.kind === 'order' ? [each.first, each.second] : [each.op]));
  if (!past || names.length === 0) return;
  const found = await Promise.all(names.map(async name => [name, await past.place(name)] as const));
  places.value = new Map(found);
}

/** Finds them again whenever they, or the history, change. */
export function followPlaces(): () => void {
  return effect(() => {
    void locate();
  });
}

/** Leaves an interpretation that does not fit for one that does, and says how many fit. */
export function followFit(): () => void {
  return effect(() => {
    const fit = fitting.value;
    if (fit && fit.length > 0 && !fit.includes(ending.peek())) ending.value = fit[0]!;
    // The line of assumptions shows the same words.
    if (fit) tell(verdictOfFit());
  });
}
