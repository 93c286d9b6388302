// The verdict in a sentence, and how a run ended that failed although its operations were not rejected.

import { accessesOf, raceSentence, stuckSentence, waitsOf } from '../data/schedule.ts';
import type { Report, Run } from '../data/types.ts';
import { verdictView } from '../data/verdict.ts';
import { base, brief, count, many } from '../text.ts';

/** The kind of failure that a page is about, apart from the verdict about its operations. */
export type Ending = 'race' | 'stuck' | 'other';

/** How the run ended, if that is the finding: it had a data race, got stuck, or crashed. A rejection says more, unless no
 * thread could continue. The specification may let calls block: then the run has no cause. */
export function endingOf(report: Report, run: Run | null): Ending | null {
  const { verdict, ended } = report;
  if (!ended) return null;
  if (/^stuck\b/.test(ended)) return verdict.kind === 'accepted' && run !== null && !run.cause ? null : 'stuck';
  if (verdict.kind === 'rejected') return null;
  return accessesOf(run, report.interleaving).length === 2 ? 'race' : 'other';
}

/** How the run ended, in a sentence; null if that is not the finding. */
export function failureOf(report: Report, run: Run | null): string | null {
  const shown = report.interleaving;
  switch (endingOf(report, run)) {
    case null:
      return null;
    case 'race': {
      const sentence = raceSentence(accessesOf(run, shown));
      return `data race${sentence.startsWith('on ') ? ' ' : ': '}${sentence}`;
    }
    case 'stuck':
      return shown?.waits?.length ? `stuck: ${stuckSentence(waitsOf(shown))}` : report.ended!;
    case 'other':
      return report.ended!;
  }
}

/** One line about the end of a run: the places of a race or of threads that wait, and the verdict about the operations. */
export function besideFailure(report: Report, run: Run | null): string {
  const { verdict, history, interleaving: shown } = report;
  if (history.operations === 0) return 'Its history has no operations.';
  const where = (operation: string | null, place: string | null) =>
    `${operation ? `\`${operation.replace(/ = .*$/s, '')}\`` : ''}${operation && place ? ' ' : ''}${place ? `at ${base(place)}` : ''}`;
  const ending = endingOf(report, run);
  if (ending === 'stuck') {
    if (report.closest_run) return report.closest_run.sentence;
    const waits = shown ? waitsOf(shown) : [];
    const texts = waits.map(
      ({ thread, operation, place }) => `${thread} waits ${operation ? 'in ' : ''}${where(operation, place)}`,
    );
    if (texts.length > 0) return `${texts.join(', ')}.`;
  }
  if (ending === 'race' && verdict.kind === 'accepted') {
    const [first, second] = accessesOf(run, shown);
    const all = history.operations === null ? 'operations' : many(history.operations, 'operation');
    return `${where(first!.operation, first!.place)}, and ${where(second!.operation, second!.place)}. The ${all} of this run are accepted, so the specification did not notice.`;
  }
  return verdict.kind === 'inconclusive'
    ? `Its operations have no verdict: ${verdict.stop}.`
    : 'An order of its operations is legal, which says nothing about this.';
}

/** A sentence as a title: with a capital, unless it begins with a process, and without a full stop. */
function titled(sentence: string, { operations }: Report): string {
  const [, first = ''] = /^([a-z]+)\b/.exec(sentence) ?? [];
  const isName = operations.some(({ process }) => process.startsWith(first));
  return (isName || !first ? sentence : first.charAt(0).toUpperCase() + sentence.slice(1)).replace(/\.$/, '');
}

interface Headline {
  sign: string;
  word: string;
  /** What happened; empty if the word says it all. */
  sentence: string;
  tone: 'good' | 'bad' | 'odd' | 'quiet';
}

/** The headline of a report. Under assumptions, the verdict is about fewer orders. */
export function headline(report: Report, assumed: string[], run: Run | null = null): Headline {
  const failure = failureOf(report, run);
  if (failure) {
    const [first = '', ...others] = brief(failure, 240);
    return { sign: '✗', word: first.toUpperCase() + others.join(''), sentence: '', tone: 'bad' };
  }
  const { operations } = report.history;
  if (operations === 0) {
    return { sign: '·', word: 'Nothing to check', sentence: 'the history has no operations', tone: 'quiet' };
  }
  const verdict = verdictView(report);
  const name = report.level?.name ?? report.isolation?.level;
  const level = name ? ` at the level \`${name}\`` : '';
  const spec = base(report.spec.name);
  switch (verdict.kind) {
    case 'accepted': {
      if (report.isolation) {
        const all = many(operations ?? 0, 'transaction');
        return { sign: '✓', word: `Accepted${level}`, sentence: `a run of all ${all} shows it`, tone: 'good' };
      }
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
    default: {
      const sentence = titled(report.closest_run?.sentence ?? verdict.sentence, report);
      return { sign: '✗', word: verdict.kind === 'invariant' ? 'Violated' : `Rejected${level}`, sentence, tone: 'bad' };
    }
  }
}
