// Places of steps in a behavior, in which unlogged steps come between the steps of the order.

import type { Unlogged } from './decode.ts';
import { search } from './history.ts';

/** What is at a place of the behavior, counted from the oldest step: a step, or an unlogged step before `step`. */
export function entryAt(unlogged: Unlogged[], place: number): { step: number; unlogged: Unlogged | null } {
  // The unlogged step with index `i` is at place `before + i`.
  const i = search(unlogged.length, i => unlogged[i]!.before + i >= place);
  const found = unlogged[i];
  return { step: place - i, unlogged: found && found.before + i === place ? found : null };
}

export function placeOfStep(unlogged: Unlogged[], step: number): number {
  return step + search(unlogged.length, i => unlogged[i]!.before > step);
}
