// The status of an operation.
//
// An operation is placed only if a loaded order contains it. One that returned before the failure and is in no order is
// uncounted: it failed without effect, or was checked separately. While steps that could be its own are not loaded, the
// status is unknown.

import type { Outcome } from './history.ts';
import type { Report, Verdict } from './types.ts';

export type Status = 'placed' | 'blocked' | 'waiting' | 'after' | 'uncounted' | 'unknown';

/** A short word for each outcome, and what it means. */
export const OUTCOMES: Record<NonNullable<Outcome>, { word: string; meaning: string }> = {
  unfinished: { word: 'unfinished', meaning: 'it did not return, and may or may not have taken effect' },
  blocked: { word: 'waits for ever', meaning: 'it did not return, because nothing is left that could wake it' },
  failed: { word: 'failed', meaning: 'it returned an error' },
};

export interface Facts {
  verdict: Verdict['kind'];
  order: Report['order'];
  isBlocked: boolean;
  /** It could be next but is not placed. */
  isWaiting: boolean;
  /** Its last step in the loaded order; null if there is none. */
  step: { partway: boolean } | null;
  /** True if every step that it could take is loaded. */
  hasSteps: () => boolean;
  /** Its start and its end, as ranks. */
  from: number;
  to: number;
  isFinished: boolean;
  /** The rank at which the blocked operation returned; null if none is blocked. */
  failure: number | null;
}

export function statusFrom(facts: Facts): Status {
  const { verdict, order, step, failure } = facts;
  if (facts.isBlocked) return 'blocked';
  if (step && !step.partway) return 'placed';
  if (facts.isWaiting) return 'waiting';
  if (step) return 'placed';
  // In program order, times carry no information.
  const isTimed = failure !== null && order === 'real-time';
  if (isTimed && facts.from > failure) return 'after';
  if (!facts.hasSteps()) return 'unknown';
  if (isTimed) return facts.to < failure ? 'uncounted' : 'waiting';
  if (verdict === 'inconclusive') return 'unknown';
  // An unfinished operation need not have taken effect.
  return verdict === 'accepted' && facts.isFinished ? 'uncounted' : 'after';
}

/** The operations to look through for unplaced ones. */
export interface Candidates {
  /** The place of the blocked operation. */
  blocked: number;
  /** Operations that could be next. Another interpretation may place them. */
  waiting: ReadonlySet<number>;
  /** Unfinished and long operations, in increasing order. */
  long: number[];
  size: number;
  isLoaded(at: number): boolean;
  statusOf(at: number): Status;
}

/** Operations that the chosen interpretation does not place: those that could be next, then unfinished and long ones
 * from before the failure, then later ones up to at most `most`. `more` is true if later ones were left out. */
export function unplaced(candidates: Candidates, most: number): { found: number[]; more: boolean } {
  const { blocked, waiting, long, size, isLoaded, statusOf } = candidates;
  const found = [...waiting].filter(at => statusOf(at) !== 'placed');
  for (const at of long) if (at < blocked && !waiting.has(at) && statusOf(at) === 'waiting') found.push(at);
  for (let at = blocked + 1; at < size; at += 1) {
    if (found.length >= most) return { found, more: true };
    if (!isLoaded(at)) break;
    if (!waiting.has(at) && ['waiting', 'after'].includes(statusOf(at))) found.push(at);
  }
  return { found, more: false };
}
