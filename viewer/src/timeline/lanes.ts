// Selects and orders the lanes: pinned ones, then all others by name, or by node and name. If there are many, those that
// play no part in the failure are hidden until the user expands them.

import type { History } from '../data/history.ts';
import { withoutCommonPrefix } from '../data/short.ts';
import type { Report } from '../data/types.ts';
import { failingOps, verdictView } from '../data/verdict.ts';
import { byName } from '../text.ts';

/** Up to this many lanes, none is hidden. */
const FEW = 12;
/** At most this many last steps of an interpretation count as involved: a report may contain all steps. */
const LAST = 8;

export interface Lanes {
  /** Processes from top to bottom. */
  shown: number[];
  /** The row of each process; negative if hidden. */
  rows: Int32Array;
  /** The number of lanes that can be hidden: uninvolved and not pinned. */
  idle: number;
  hidden: number;
  order: LaneOrder;
  /** The node of each process if they are ordered by node; else null. */
  nodes: readonly (string | null)[] | null;
}

export type LaneOrder = 'name' | 'node';

export function arrange(
  history: History,
  report: Report,
  pins: number[],
  collapsed: boolean,
  wanted: LaneOrder = 'name',
): Lanes {
  const { processes } = history.timeline;
  const place = new Map(processes.map((name, i) => [name, i]));
  const involved = new Set<number>();
  const involve = (op: number | null) => {
    const process = op === null ? undefined : place.get(report.operations[op]?.process ?? '');
    if (process !== undefined) involved.add(process);
  };
  const verdict = verdictView(report);
  const order = history.hasNodes ? wanted : 'name';
  const nodes = order === 'node' ? history.nodes() : null;
  failingOps(verdict, report.operations).forEach(involve);
  if ('blocked' in verdict) verdict.blocked.forEach(involve);
  if (verdict.kind === 'stuck') {
    verdict.window?.operations.forEach(involve);
    if (verdict.legal.kind === 'earlier') involve(verdict.legal.until);
    if (verdict.legal.kind === 'later') involve(verdict.legal.after);
    for (const { recent } of verdict.interpretations) for (const { op } of recent.slice(-LAST)) involve(op);
    // An operation that merely has to wait has no part in the failure.
    for (const { op, why } of verdict.reasons) if (why.kind !== 'time') involve(op);
  } else {
    for (let op = 0; op < report.operations.length; op += 1) involve(op);
  }

  const pinned = pins.filter(process => process < processes.length);
  const isPinned = new Set(pinned);
  const first = [...involved].filter(process => !isPinned.has(process));
  const idle = processes.map((_, i) => i).filter(process => !involved.has(process) && !isPinned.has(process));
  const few = processes.length <= FEW || pinned.length + first.length === 0;
  const hides = collapsed && !few;
  const rest = [...first, ...(hides ? [] : idle)];
  const nodeOf = (process: number) => nodes?.[process] ?? '';
  rest.sort((a, b) => byName(nodeOf(a), nodeOf(b)) || byName(processes[a]!, processes[b]!));
  const shown = [...pinned, ...rest];
  const rows = new Int32Array(processes.length).fill(-1);
  for (const [row, process] of shown.entries()) rows[process] = row;
  return {
    shown,
    rows,
    idle: few ? 0 : idle.length,
    hidden: hides ? idle.length : 0,
    order,
    nodes,
  };
}

const named = new WeakMap<History, string[]>();

/** The names of the processes, without the words that all of them begin with. */
export function laneNames(history: History): string[] {
  const known = named.get(history);
  if (known) return known;
  const names = withoutCommonPrefix(history.timeline.processes.map(name => name.slice(0, 200)));
  named.set(history, names);
  return names;
}

/** The label of a lane: the name of its process, after its node if lanes are ordered by node. */
export function laneLabel(history: History, { nodes }: Lanes, process: number): string {
  const name = laneNames(history)[process]!;
  const node = nodes?.[process];
  return node ? `${node.slice(0, 40)} ${name}` : name;
}
