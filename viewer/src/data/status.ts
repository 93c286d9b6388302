// What became of an operation, from what is known about it.
//
// Only what stands in an order that is here is placed. What returned before the failure and stands in none was not
// counted: it failed without effect, or it was checked apart from the others. As long as steps are missing that might be
// those of the operation, nothing is said.

import type { Report, Verdict } from './types.ts';

export type Status = 'placed' | 'blocked' | 'waiting' | 'after' | 'uncounted' | 'unknown';

/** What is known about an operation. */
export interface Facts {
  verdict: Verdict['kind'];
  order: Report['order'];
  isBlocked: boolean;
  /** It could be next, and is not. */
  isWaiting: boolean;
  /** Its last step in the order that is here; null if there is none. */
  step: { partway: boolean } | null;
  /** True if every step that it could take is here. */
  hasSteps: () => boolean;
  /** Its start and its end, as ranks. */
  from: number;
  to: number;
  isFinished: boolean;
  /** The rank at which the blocked operation returned; null if none is blocked. */
  failure: number | null;
}

/** What became of it. */
export function statusFrom(facts: Facts): Status {
  const { verdict, order, step, failure } = facts;
  if (facts.isBlocked) return 'blocked';
  if (step && !step.partway) return 'placed';
  if (facts.isWaiting) return 'waiting';
  if (step) return 'placed';
  // In program order, times say nothing.
  const isTimed = failure !== null && order === 'real-time';
  if (isTimed && facts.from > failure) return 'after';
  if (!facts.hasSteps()) return 'unknown';
  if (isTimed) return facts.to < failure ? 'uncounted' : 'waiting';
  if (verdict === 'inconclusive') return 'unknown';
  // What never finished need not have happened.
  return verdict === 'accepted' && facts.isFinished ? 'uncounted' : 'after';
}
