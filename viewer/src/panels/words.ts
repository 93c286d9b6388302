// What-ifs and assumptions in words.

import type { Assumption, Consequence, Report } from '../data/types.ts';
import { brief, many, quoted } from '../text.ts';

/** An assumption in words. */
export function assumed(assumption: Assumption): string {
  switch (assumption.kind) {
    case 'other-results':
      return `result ${assumption.results.map(field => (field.name ? `${field.name} = ${brief(field.value, 60)}` : brief(field.value, 60))).join(', ') || 'none'}`;
    case 'dropped':
      return 'without this operation';
    case 'program-order':
      return 'program order only';
  }
}

/** What came of an assumption, in words. */
export function came(report: Report, outcome: Consequence, assumption: Assumption, from: number): string {
  if (outcome.kind === 'accepted') return 'the specification allows the whole history';
  if (outcome.kind === 'inconclusive') return `not found out: ${outcome.stop}`;
  const further = outcome.explained - from;
  const at =
    outcome.blocked === null
      ? ''
      : ` at ${report.operations[outcome.blocked]?.name ?? '?'} ${report.operations[outcome.blocked]?.text ?? ''}`;
  if (assumption.kind === 'program-order') return `still rejected${at}`;
  if (further <= 0) return `stuck all the same${at}`;
  const begin = assumption.kind === 'other-results' ? 'this step is then legal, and it' : 'it';
  return `${begin} is stuck again ${many(further, 'operation')} later${at}`;
}

/** The command that checks again under assumptions, those that the report was made under among them; null if no command
 * of the report names what was checked. */
export function checkAgain(report: Report, assumptions: string[]): string | null {
  const line = report.next.map(each => each.line).find(each => /^\S+ (check|explain) /.test(each));
  if (line === undefined) return null;
  const check = line.replace(/^(\S+) explain /, '$1 check ');
  const others = assumptions.map(each => ` --assume ${quoted(each)}`).filter(each => !`${check} `.includes(`${each} `));
  return check + others.join('');
}
