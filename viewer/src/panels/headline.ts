// The verdict in a few words, and how a run ended that failed although its operations were not rejected.

import type { Report } from '../data/types.ts';
import { verdictView } from '../data/verdict.ts';
import { brief } from '../text.ts';

/** How the run ended, if that is the finding: it crashed, got stuck, or had a data race. A rejection says more. */
export function failureOf(report: Report): string | null {
  return report.verdict.kind !== 'rejected' && report.ended ? report.ended : null;
}

/** The verdict about the operations of a run whose end is the finding. */
export function besideFailure({ verdict, history }: Report): string {
  if (history.operations === 0) return 'Its history has no operations.';
  return verdict.kind === 'inconclusive'
    ? `Its operations have no verdict: ${verdict.stop}.`
    : 'An order of its operations is legal, which says nothing about this.';
}

/** The verdict, and what it means; a rejection has a sentence instead. Under assumptions, it is about fewer orders. */
export function headline(
  report: Report,
  assumed: string[],
): { sign: string; word: string; rest: string; tone: string } {
  const failure = failureOf(report);
  if (failure) {
    const [first = '', ...others] = brief(failure, 240);
    return { sign: '✗', word: first.toUpperCase() + others.join(''), rest: '', tone: 'bad' };
  }
  if (report.history.operations === 0) {
    return { sign: '·', word: 'Nothing to check', rest: 'the history has no operations', tone: 'quiet' };
  }
  const order = assumed.length > 0 ? 'order consistent with the assumptions' : 'order of these operations';
  switch (verdictView(report).kind) {
    case 'accepted':
      return { sign: '✓', word: 'Accepted', rest: `an ${order} is allowed by`, tone: 'good' };
    case 'stuck':
    case 'contradiction':
    case 'views':
      return { sign: '✗', word: 'Rejected', rest: '', tone: 'bad' };
    case 'invariant':
      return { sign: '✗', word: 'Violated', rest: '', tone: 'bad' };
    case 'inconclusive':
      return { sign: '…', word: 'Inconclusive', rest: 'the check stopped early, against', tone: 'odd' };
  }
}

/** The title of the reasons for a verdict that has no operation to blame. */
export function whyTitle(report: Report): string {
  if (failureOf(report)) return 'How the run ended';
  return report.verdict.kind === 'inconclusive' ? 'Why it stopped' : 'Why it is accepted';
}
