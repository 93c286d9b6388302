// A report as Markdown, for an issue or a chat: verdict, reasons, the smallest failing part as a table, commands.
//
// Its text comes from a trace. A bar would end a table cell and a backtick would end inline code, so both are escaped;
// invisible characters are written out.

import type { Conjunct, OpRef, Report, Run, State, Why } from './data/types.ts';
import { verdictView } from './data/verdict.ts';
import { rows } from './panels/columns.ts';
import { besideFailure, failureOf, headline } from './panels/headline.ts';
import { glyph, gravest, groups, reasonText } from './panels/outcome.ts';
import { assumptionText, outcomeText } from './panels/words.ts';
import { brief, count, letter, list, many } from './text.ts';

/** The report, shortened for reading. `assumptions` are those that the verdict was checked under. */
export function markdown(report: Report, assumptions: string[], link: string | null, run: Run | null = null): string {
  const verdict = verdictView(report);
  const out: string[] = [];
  const word = {
    accepted: '✓ Accepted',
    stuck: '✗ Rejected',
    contradiction: '✗ Rejected',
    invariant: '✗ Violated',
    views: '✗ Rejected',
    anomaly: '✗ Rejected',
    inconclusive: '… Inconclusive',
  }[verdict.kind];
  const failure = failureOf(report, run);
  const at = report.level?.name ?? report.isolation?.level;
  const level = at ? ` at the level ${code(at)}` : '';
  const title = failure ? `✗ ${plain(headline(report, assumptions, run).word)}` : `${word}${level}`;
  out.push(
    `### ${title}: ${code(report.history.name)}${report.isolation ? '' : ` against ${code(report.spec.name)}`}`,
    '',
  );
  if (assumptions.length > 0) {
    // The verdict holds only under all of these, so all are listed.
    out.push(
      `Only orders consistent with these assumptions were considered: ${assumptions.map(each => code(each)).join(', ')}`,
      '',
    );
  }
  const total = report.history.operations;
  const of = total === null ? '' : ` of ${count(total)}`;
  if (failure) {
    out.push(plain(besideFailure(report, run)), '');
  } else if ('sentence' in verdict) {
    const explained = verdict.kind === 'anomaly' ? '' : ` (${count(verdict.explained)}${of} operations explained)`;
    out.push(`**${plain(verdict.sentence)}**${explained}`, '');
    if (verdict.details) out.push(plain(verdict.details), '');
  } else if (verdict.kind === 'inconclusive') {
    out.push(`${plain(verdict.stop)} (${count(report.stats.returned)}${of} operations had returned)`, '');
  } else if (report.isolation) {
    out.push(`A run of all${total === null ? '' : ` ${count(total)}`} transactions shows it.`, '');
  } else {
    const allowed = report.level
      ? 'in which each returned what the specification returns after the operations that it saw'
      : 'that the specification allows';
    const also = assumptions.length > 0 ? ' and that is consistent with the assumptions' : '';
    out.push(
      `All${total === null ? '' : ` ${count(total)}`} operations can be put into one order ${allowed}${also}.`,
      '',
    );
    for (const { op, missed } of report.level?.missed ?? []) {
      out.push(`- ${code(name(report, op))} missed ${operations(report, missed, missed.length)}`);
    }
    const more = (report.level?.missing ?? 0) - (report.level?.missed.length ?? 0);
    if (more > 0) out.push(`- ${many(more, 'more operation')} missed others`);
    if (report.level?.missing) out.push('');
  }
  if (verdict.kind === 'stuck') {
    const against = verdict.reasons
      .filter(reason => verdict.blocked.length === 0 || verdict.blocked.includes(reason.op))
      .slice(0, 3);
    for (const reason of against) {
      out.push(
        `**Why** ${code(name(report, reason.op))}, in ${reason.states.length} of ${many(verdict.states.length, 'state')}:`,
        '',
      );
      out.push(...why(report, reason.why, reason.states), '');
    }
    const states = verdict.states.slice(0, 6);
    if (states.length > 0) {
      out.push('**Possible states**', '');
      states.forEach((state, at) => {
        out.push(`- ${letter(at)}: ${code(stateText(state), 300)}`);
      });
      out.push('');
    }
    if (verdict.expected.length > 0) {
      const expected = verdict.expected
        .slice(0, 6)
        .map(results => code(results.map(field => field.value).join(', ') || 'no result'));
      out.push(`**Expected instead**: ${list(expected)}${verdict.expects_more ? ' and others' : ''}`, '');
    }
    if (verdict.what_ifs.length > 0) {
      out.push('**What if** (rechecked)', '');
      for (const each of verdict.what_ifs) {
        out.push(
          `- ${plain(assumptionText(report, each.assumption))}: ${plain(outcomeText(report, each.outcome, each.assumption, verdict.explained))}`,
        );
      }
      out.push('');
    }
    if (verdict.window) out.push(...table(report, verdict.window.operations, verdict.blocked));
  } else if (verdict.kind === 'contradiction') {
    out.push('These operations contradict each other, regardless of all others.', '');
    out.push(...table(report, verdict.operations, []));
  } else if (verdict.kind === 'anomaly') {
    for (const { label, op } of verdict.transactions) out.push(`- ${label}: ${code(name(report, op))}`);
    for (const { from, to, reason } of verdict.edges) {
      const [before, after] = [verdict.transactions[from]!.label, verdict.transactions[to]!.label];
      out.push(`- ${before} → ${after}: ${plain(reason)}`);
    }
    out.push('');
  } else if (verdict.kind === 'views') {
    for (const view of verdict.views) {
      out.push(`**Why** ${code(name(report, view.op))}:`, '');
      out.push(`- it ${plain(view.sees)}`);
      out.push(`- it has to see ${operations(report, view.must_see, view.must_see_count)}`);
      out.push(`- it may miss ${operations(report, view.may_miss, view.may_miss_count)}`);
      const states = view.states.slice(0, 6).map(state => code(stateText(state), 300));
      const more = view.states.length - states.length;
      out.push(
        states.length === 0
          ? '- there is no state that it may see'
          : `- it may see ${states.join(' or ')}${more > 0 ? ` or ${many(more, 'other state')}` : ''}`,
      );
      if (view.why !== null) out.push(`- ${plain(view.why)}`);
      out.push('');
    }
    if (verdict.holds !== null) out.push(`At the level ${code(verdict.holds)} the history is accepted.`, '');
  } else if (verdict.kind === 'invariant') {
    const states = verdict.states.map((_, at) => at);
    out.push(...conjunctLines(verdict.conjuncts, states), '');
  }
  const notes = report.notes.filter(
    note => assumptions.length === 0 || !assumptions.every(each => note.includes(each)),
  );
  if (notes.length > 0) out.push(...notes.map(note => `- Note: ${plain(note)}`), '');
  for (const cut of report.history.cuts) out.push(`- The trace is truncated: ${plain(cut)}`, '');
  if (report.next.length > 0) {
    out.push('```sh', ...report.next.map(each => each.line.replace(/[\r\n`]/g, ' ')), '```', '');
  }
  if (link) out.push(link, '');
  return out.join('\n');
}

/** A table of operations with processes as columns. */
function table(report: Report, operations: OpRef[], blocked: OpRef[]): string[] {
  const { processes, rows: made } = rows(report.operations, operations);
  const text = (op: OpRef) => `${cell(report.operations[op]?.text ?? '')}${blocked.includes(op) ? ' ✗' : ''}`;
  return [
    `**Smallest failing part** (${many(operations.length, 'operation')}; operations in one row overlap)`,
    '',
    `| ${processes.map(cell).join(' | ')} |`,
    `|${processes.map(() => ' --- ').join('|')}|`,
    ...made.slice(0, 40).map(row => `| ${row.cells.map(op => (op === null ? '' : text(op))).join(' | ')} |`),
    '',
  ];
}

function why(report: Report, why: Why, states: number[]): string[] {
  return why.kind === 'guard' ? conjunctLines(why.conjuncts, states) : [`- ${plain(reasonText(report, why))}`];
}

function conjunctLines(conjuncts: Conjunct[], states: number[]): string[] {
  return conjuncts.map(conjunct => {
    const { sign } = glyph(gravest(conjunct.outcomes));
    const found = groups(conjunct)
      .slice(0, 4)
      .filter(group => group.outcome !== 'not-reached' && group.outcome !== 'true')
      .map(group => {
        const values = group.values.map(({ text, value }) => `${code(text, 80)} is ${code(value, 80)}`).join(', ');
        const where =
          group.at.length === states.length ? '' : ` in ${list(group.at.map(at => letter(states[at] ?? at)))}`;
        return `${values}${values ? ': ' : ''}${glyph(group.outcome).word}${where}`;
      });
    return `- ${sign} ${code(conjunct.text)}${found.length > 0 ? `: ${found.join('; ')}` : ''}`;
  });
}

/** Operations in a line. If `total` is larger than their number, they are the last. */
function operations(report: Report, ops: OpRef[], total: number): string {
  if (total === 0) return 'nothing';
  const more = total - ops.length;
  return `${ops.map(op => code(name(report, op))).join(', ')}${more > 0 ? `, and ${count(more)} before` : ''}`;
}

function stateText({ variables }: State): string {
  return variables.map(field => (field.name ? `${field.name} = ${field.value}` : field.value)).join(', ');
}

function name(report: Report, op: number): string {
  const operation = report.operations[op];
  return operation ? `${operation.name} ${operation.text}` : 'an operation';
}

/** Text outside code, with Markdown syntax escaped. */
function plain(text: string): string {
  return brief(text, 600).replace(/[\\`*_<>[\]|#@]/g, char => `\\${char}`);
}

function cell(text: string): string {
  return code(text, 80).replace(/\|/g, '\\|');
}

/** Inline code, fenced with more backticks than the text contains in a row. */
function code(text: string, width = 160): string {
  const shown = brief(text, width);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map(run => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}
