// A verdict as the panels look at it: what shows a rejection stands beside what is said of every rejection.

import type { Broken, Limit, OpRef, Report, Stuck } from './types.ts';

/** What is said of every rejection. */
interface About {
  sentence: string;
  /** The operations that no order can place. */
  blocked: OpRef[];
  explained: number;
}

/** Every order gets stuck. */
export type FoundStuck = { kind: 'stuck' } & Stuck & About;
/** Every order makes an invariant false. */
export type FoundBroken = { kind: 'invariant' } & Broken & About;

/** What was found about a history. */
export type Found =
  | { kind: 'accepted' }
  | FoundStuck
  | ({ kind: 'contradiction'; operations: OpRef[] } & About)
  | FoundBroken
  | { kind: 'inconclusive'; limit: Limit; stop: string };

/** What a report has found. */
export function found({ verdict }: Report): Found {
  if (verdict.kind !== 'rejected') return verdict;
  const { sentence, blocked, explained, evidence } = verdict;
  return { ...evidence, sentence, blocked, explained };
}

/** What a report has found, if every order gets stuck. */
export function stuckIn(report: Report | null): FoundStuck | null {
  const view = report ? found(report) : null;
  return view?.kind === 'stuck' ? view : null;
}
