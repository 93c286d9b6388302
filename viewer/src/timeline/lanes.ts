// Which lanes are shown, and in what order: pinned ones, then those with a part in the failure, the blocked operation's
// first, then the rest. If there are many, those without a part are hidden until somebody asks.

import type { History } from '../data/history.ts';
import type { Report } from '../data/types.ts';
import { found } from '../data/verdict.ts';

/** So many lanes are never too many. */
const FEW = 12;
/** So many of the last steps of an interpretation have a part in the failure: a report may know all of them. */
const LAST = 8;

export interface Lanes {
  /** Processes from top to bottom. */
  shown: number[];
  /** The row of each process; less than nought if it is hidden. */
  rows: Int32Array;
  /** How many could be hidden: without a part in the failure and not pinned. */
  idle: number;
  /** How many are hidden. */
  hidden: number;
}

export function arrange(history: History, report: Report, pins: number[], collapsed: boolean): Lanes {
  const { processes } = history.timeline;
  const place = new Map(processes.map((name, i) => [name, i]));
  const involved = new Set<number>();
  const involve = (op: number | null) => {
    const process = op === null ? undefined : place.get(report.operations[op]?.process ?? '');
    if (process !== undefined) involved.add(process);
  };
  const verdict = found(report);
  if ('blocked' in verdict) verdict.blocked.forEach(involve);
  if (verdict.kind === 'stuck') {
    for (const op of verdict.window?.operations ?? []) involve(op);
    for (const { op } of verdict.reasons) involve(op);
    if (verdict.legal.kind === 'earlier') involve(verdict.legal.until);
    if (verdict.legal.kind === 'later') involve(verdict.legal.after);
    for (const { recent } of verdict.interpretations) for (const { op } of recent.slice(-LAST)) involve(op);
  } else {
    for (let op = 0; op < report.operations.length; op += 1) involve(op);
  }

  const pinned = pins.filter(process => process < processes.length);
  const isPinned = new Set(pinned);
  const first = [...involved].filter(process => !isPinned.has(process));
  const idle = processes.map((_, i) => i).filter(process => !involved.has(process) && !isPinned.has(process));
  const few = processes.length <= FEW || pinned.length + first.length === 0;
  const hides = collapsed && !few;
  const shown = [...pinned, ...first, ...(hides ? [] : idle)];
  const rows = new Int32Array(processes.length).fill(-1);
  for (const [row, process] of shown.entries()) rows[process] = row;
  return {
    shown,
    rows,
    idle: few ? 0 : idle.length,
    hidden: hides ? idle.length : 0,
  };
}
