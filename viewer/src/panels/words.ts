// Names and what-ifs as text, and the command that rechecks under assumptions.

import type { Assumption, Consequence, OpRef, Report } from '../data/types.ts';
import { brief, many, quoted } from '../text.ts';

/** The name of an operation, such as `T1:3`. */
export function nameOf(report: Report, op: OpRef): string {
  return brief(report.operations[op]?.name ?? '?', 40);
}

/** The assumption of a what-if. */
export function assumptionText(report: Report, assumption: Assumption): string {
  const named = (op: OpRef) => {
    const operation = report.operations[op];
    return operation ? `${brief(operation.name, 60)} ${brief(operation.text, 60)}`.trim() : '?';
  };
  switch (assumption.kind) {
    case 'other-results':
      return `result ${assumption.results.map(field => (field.name ? `${field.name} = ${brief(field.value, 60)}` : brief(field.value, 60))).join(', ') || 'none'}`;
    case 'dropped':
      return 'without this operation';
    case 'program-order':
      return 'program order only';
    case 'event-dropped':
      return `without ${named(assumption.event)}`;
    case 'step-inserted':
      return `with an unlogged step \`${brief(assumption.action, 60)}\` before ${named(assumption.before)}`;
    case 'not-complete':
      return `if \`${brief(assumption.variable, 60)}\` may change unlogged`;
    case 'other-field':
      return `if ${named(assumption.event)} had told \`${brief(assumption.field, 120)}\``;
    case 'field-ignored':
      return `without the condition \`${brief(assumption.field, 120)}\` on ${named(assumption.event)}`;
    case 'exchanged':
      return `with ${named(assumption.first)} after ${named(assumption.second)}`;
  }
}

/** The outcome of a what-if. */
export function outcomeText(report: Report, outcome: Consequence, assumption: Assumption, from: number): string {
  if (outcome.kind === 'accepted') return 'the whole history is accepted';
  if (outcome.kind === 'inconclusive') return `inconclusive: ${outcome.stop}`;
  const further = outcome.explained - from;
  const at =
    outcome.blocked === null
      ? ''
      : ` at ${report.operations[outcome.blocked]?.name ?? '?'} ${report.operations[outcome.blocked]?.text ?? ''}`;
  if (assumption.kind === 'program-order') return `still rejected${at}`;
  if (further <= 0) return `stuck as before${at}`;
  const begin = assumption.kind === 'other-results' ? 'this step is legal, but the history' : 'the history';
  return `${begin} is stuck again ${many(further, 'operation')} later${at}`;
}

/** The command that checks under these assumptions and those of the report; null if the report has no `check` or
 * `explain` command to start from. */
export function checkAgain(report: Report, assumptions: string[]): string | null {
  const line = report.next.map(each => each.line).find(each => /^\S+ (check|explain) /.test(each));
  if (line === undefined) return null;
  const check = line.replace(/^(\S+) (?:explain|check --full) /, '$1 check ');
  const others = assumptions.map(each => ` --assume ${quoted(each)}`).filter(each => !`${check} `.includes(`${each} `));
  return check + others.join('');
}
