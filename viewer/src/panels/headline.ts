// The verdict in a sentence, and how a run ended that failed although its operations were not rejected.

import type { Report } from '../data/types.ts';
import { verdictView } from '../data/verdict.ts';
import { brief, count } from '../text.ts';

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

interface Headline {
  sign: string;
  /** The verdict in a word. */
  word: string;
  /** What happened; empty if the word says it all. */
  sentence: string;
  tone: 'good' | 'bad' | 'odd' | 'quiet';
}

/** The headline of a report. Under assumptions, the verdict is about fewer orders. */
export function headline(report: Report, assumed: string[]): Headline {
  const failure = failureOf(report);
  if (failure) {
    const [first = '', ...others] = brief(failure, 240);
    return { sign: '✗', word: first.toUpperCase() + others.join(''), sentence: '', tone: 'bad' };
  }
  const { operations } = report.history;
  if (operations === 0) {
    return { sign: '·', word: 'Nothing to check', sentence: 'the history has no operations', tone: 'quiet' };
  }
  const verdict = verdictView(report);
  const level = report.level ? ` at the level \`${report.level.name}\`` : '';
  const spec = report.spec.name.split('/').pop() || report.spec.name;
  switch (verdict.kind) {
    case 'accepted': {
      const all =
        operations === null ? 'all operations' : operations === 1 ? 'the operation' : `${count(operations)} operations`;
      const order = assumed.length > 0 ? 'one order that is consistent with the assumptions' : 'one order';
      const allowed = report.level
        ? ' in which each returned what it should after those that it saw'
        : ` that \`${spec}\` allows`;
      return {
        sign: '✓',
        word: `Accepted${level}`,
        sentence: `${all} can be put into ${order}${allowed}`,
        tone: 'good',
      };
    }
    case 'inconclusive':
      return { sign: '…', word: 'Inconclusive', sentence: verdict.stop, tone: 'odd' };
    case 'invariant':
      return { sign: '✗', word: 'Violated', sentence: verdict.sentence, tone: 'bad' };
    default:
      return { sign: '✗', word: `Rejected${level}`, sentence: verdict.sentence, tone: 'bad' };
  }
}
