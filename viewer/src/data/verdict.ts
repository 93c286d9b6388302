// Verdicts in a flat form for the panels: the evidence of a rejection is merged with the fields common to all
// rejections.

import type { Anomaly, Broken, Limit, Operation, OpRef, Report, Stuck, Views } from './types.ts';

interface About {
  sentence: string;
  details: string;
  /** The operations that no order can place. */
  blocked: OpRef[];
  explained: number;
}

/** Every order gets stuck. */
export type StuckView = { kind: 'stuck' } & Stuck & About;
/** Every order violates an invariant. */
export type BrokenView = { kind: 'invariant' } & Broken & About;
/** Whatever operations see, no order explains them. */
export type ViewsView = { kind: 'views' } & Views & About;
/** Transactions that no order explains at a level. */
export type AnomalyView = { kind: 'anomaly' } & Anomaly & About;

export type VerdictView =
  | { kind: 'accepted' }
  | StuckView
  | ({ kind: 'contradiction'; operations: OpRef[] } & About)
  | BrokenView
  | ViewsView
  | AnomalyView
  | { kind: 'inconclusive'; limit: Limit; stop: string };

export function verdictView({ verdict }: Report): VerdictView {
  if (verdict.kind !== 'rejected') return verdict;
  const { sentence, details = '', blocked, explained, evidence } = verdict;
  const about = { sentence, details, blocked, explained };
  if (evidence.kind !== 'stuck') return { ...evidence, ...about };
  // The reason that holds in most states comes first, as in the sentence.
  const reasons = evidence.reasons.toSorted((a, b) => b.states.length - a.states.length);
  return { ...evidence, reasons, ...about };
}

/** The verdict of a report if every order gets stuck, else null. */
export function stuckIn(report: Report | null): StuckView | null {
  const view = report ? verdictView(report) : null;
  return view?.kind === 'stuck' ? view : null;
}

/** The operations to blame: the first that made an invariant false, if that is known; the one that ends a contradiction;
 * else the blocked ones. */
export function failingOps(view: VerdictView, operations: Operation[]): OpRef[] {
  if (view.kind === 'invariant' && view.broke?.length) return view.broke.slice(0, 1);
  if (view.kind === 'contradiction') return lastAnswer(view.operations, operations);
  return 'blocked' in view ? view.blocked : [];
}

/** Of operations that contradict each other, the last one that returned something: without its result there would be no
 * contradiction. */
function lastAnswer(refs: OpRef[], operations: Operation[]): OpRef[] {
  const endOf = (op: OpRef) => operations[op]?.end ?? Number.POSITIVE_INFINITY;
  const answers = refs.filter(op => (operations[op]?.results.length ?? 0) > 0);
  return (answers.length > 0 ? answers : refs).toSorted((a, b) => endOf(b) - endOf(a) || b - a).slice(0, 1);
}
