// Outcomes of conjuncts and reasons as signs and words, shared by the panels, the list and the Markdown export.

import type { Conjunct, Guard, Outcome, Report, Why } from '../data/types.ts';

export function glyph(outcome: Outcome): { sign: string; word: string; tone: string } {
  if (outcome === 'true') return { sign: '✓', word: 'TRUE', tone: 'good' };
  if (outcome === 'false') return { sign: '✗', word: 'FALSE', tone: 'bad' };
  if (outcome === 'not-reached') return { sign: '·', word: 'not reached', tone: 'quiet' };
  if ('chose' in outcome)
    return { sign: '◇', word: outcome.chose ? 'condition is TRUE' : 'condition is FALSE', tone: 'quiet' };
  return { sign: '!', word: 'an error', tone: 'odd' };
}

const GRAVITY = ['bad', 'odd', 'good', 'quiet'];

export function gravest(outcomes: Outcome[]): Outcome {
  const rank = (outcome: Outcome) => GRAVITY.indexOf(glyph(outcome).tone);
  return outcomes.reduce(
    (worst, outcome) => (rank(outcome) < rank(worst) ? outcome : worst),
    outcomes[0] ?? 'not-reached',
  );
}

interface Group {
  outcome: Outcome;
  values: { text: string; value: string }[];
  at: number[];
}

/** Groups states (as indices into those of the reason) by outcome and values of a conjunct. */
export function groups(conjunct: Conjunct): Group[] {
  const found = new Map<string, Group>();
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

/** The false conjunct of a guard, in one line. */
export function failing(guard: Guard): string {
  const bad = guard.conjuncts.find(conjunct => ['bad', 'odd'].includes(glyph(gravest(conjunct.outcomes)).tone));
  return bad ? `${bad.text} is ${glyph(gravest(bad.outcomes)).word}` : `${guard.action} is not enabled`;
}

/** A reason in one line, as a clause that can follow `because`. */
export function reasonText(report: Report, why: Why): string {
  switch (why.kind) {
    case 'time':
      return `it must wait for ${report.operations[why.after]?.name ?? 'another operation'}, which returned before it began`;
    case 'guard':
      return failing(why);
    case 'words':
      return why.text;
    case 'excluded':
      return `it leads to a state excluded by ${why.name}`;
    case 'error':
      return `evaluation failed: ${why.message}`;
    case 'dead':
      return 'every order that continues with it gets stuck too';
  }
}
