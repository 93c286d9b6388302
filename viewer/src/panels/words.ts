// Names and what-ifs as text, and the command that rechecks under assumptions.

import { shortName } from '../data/short.ts';
import type { Assumption, Consequence, OpRef, Report } from '../data/types.ts';
import { brief, many, quoted } from '../text.ts';

/** The name of an operation, such as `T1:3`. */
export function nameOf(report: Report, op: OpRef): string {
  return brief(report.operations[op]?.name ?? '?', 40);
}

/** The process and the short name of an operation, and its line in a log: `T1 Put 3, 10`, `tm line 6 TMCommit`. */
export function shortOf(report: Report, op: OpRef): string {
  const operation = report.operations[op];
  if (!operation) return '?';
  const line = operation.meta.find(field => field.name === 'line');
  return `${brief(operation.process, 40)} ${line ? `line ${brief(line.value, 12)} ` : ''}${shortName(operation)}`;
}

/** The assumption of a what-if. Code is in backticks. */
export function assumptionText(report: Report, assumption: Assumption): string {
  const named = (op: OpRef) => `\`${shortOf(report, op)}\``;
  switch (assumption.kind) {
    case 'other-results':
      return `if it had returned ${assumption.results.map(field => `\`${brief(field.value, 60)}\``).join(', ') || 'nothing'}`;
    case 'dropped':
      return 'without this operation';
    case 'program-order':
      return 'without real time (`--order program`)';
    case 'event-dropped':
      return `without ${named(assumption.event)}`;
    case 'step-inserted':
      return `with a step \`${brief(assumption.action, 60)}\` that is not in the log, before ${named(assumption.before)}`;
    case 'not-complete':
      return `if \`${brief(assumption.variable, 60)}\` may change without an event`;
    case 'other-field':
      return `if the log of ${named(assumption.event)} had \`${brief(assumption.field, 120)}\``;
    case 'field-ignored':
      return `without the condition \`${brief(assumption.field, 120)}\` on ${named(assumption.event)}`;
    case 'exchanged':
      return `with ${named(assumption.first)} after ${named(assumption.second)}`;
  }
}

export function outcomeText(report: Report, outcome: Consequence, assumption: Assumption, from: number): string {
  if (outcome.kind === 'accepted') return 'the whole history is accepted';
  if (outcome.kind === 'inconclusive') return `inconclusive: ${outcome.stop}`;
  const further = outcome.explained - from;
  const at = outcome.blocked === null ? '' : ` at ${shortOf(report, outcome.blocked)}`;
  if (assumption.kind === 'program-order') return `still rejected${at}`;
  if (further <= 0) return `stuck as before${at}`;
  const begin = assumption.kind === 'other-results' ? 'legal here, then stuck' : 'stuck again';
  return `${begin} ${many(further, 'operation')} later${at}`;
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
