// What became of the parts of an action, in signs and words. The panels, the list and the Markdown share it.

import type { Conjunct, Guard, Outcome, Report, Why } from '../data/types.ts';

/** What stands in the margin of a part, and the words for it. */
export function glyph(outcome: Outcome): { sign: string; word: string; tone: string } {
  if (outcome === 'true') return { sign: '✓', word: 'TRUE', tone: 'good' };
  if (outcome === 'false') return { sign: '✗', word: 'FALSE', tone: 'bad' };
  if (outcome === 'not-reached') return { sign: '·', word: 'not reached', tone: 'quiet' };
  if ('chose' in outcome)
    return { sign: '◇', word: outcome.chose ? 'condition is TRUE' : 'condition is FALSE', tone: 'quiet' };
  return { sign: '!', word: 'no value', tone: 'odd' };
}

const GRAVITY = ['bad', 'odd', 'good', 'quiet'];

/** The gravest of what became of a part. */
export function gravest(outcomes: Outcome[]): Outcome {
  const rank = (outcome: Outcome) => GRAVITY.indexOf(glyph(outcome).tone);
  return outcomes.reduce(
    (worst, outcome) => (rank(outcome) < rank(worst) ? outcome : worst),
    outcomes[0] ?? 'not-reached',
  );
}

/** States (by place in the list of the reason) in which a part came out the same, with the same values. */
export function groups(
  conjunct: Conjunct,
): { outcome: Outcome; values: { text: string; value: string }[]; at: number[] }[] {
  const found = new Map<string, { outcome: Outcome; values: { text: string; value: string }[]; at: number[] }>();
  conjunct.outcomes.forEach((outcome, at) => {
    const values = conjunct.values.flatMap(({ text, values }) => {
      const value = values[at];
      return value == null || value === text ? [] : [{ text, value }];
    });
    const key = JSON.stringify([outcome, values]);
    const group = found.get(key);
    if (group) group.at.push(at);
    else found.set(key, { outcome, values, at: [at] });
  });
  return [...found.values()];
}

/** The part of a guard that is false, in words: what a line has room for. */
export function failing(guard: Guard): string {
  const bad = guard.conjuncts.find(conjunct => ['bad', 'odd'].includes(glyph(gravest(conjunct.outcomes)).tone));
  return bad ? `${bad.text} is ${glyph(gravest(bad.outcomes)).word}` : `${guard.action} is not enabled`;
}

/** A reason in one line: a clause that can stand after `because`. */
export function short(report: Report, why: Why): string {
  switch (why.kind) {
    case 'time':
      return `it must wait until ${report.operations[why.after]?.name ?? 'another operation'} is placed, which had returned before it began`;
    case 'guard':
      return failing(why);
    case 'words':
      return why.text;
    case 'excluded':
      return `it leads to a state that ${why.name} excludes`;
    case 'error':
      return `the specification has no value: ${why.message}`;
    case 'dead':
      return 'whatever follows it is stuck too';
  }
}
