// Arranges operations on a line of time with as few columns as show which of them overlap.
//
// A column begins where an operation begins after another has returned. An operation covers all columns from the one in
// which it begins to the one in which it returns. So two operations share a column exactly if they overlap, and one is
// left of the other exactly if it returned before the other began. Widths of columns mean nothing.
//
// Times in a report are rounded beyond 2^53, and operations that share only an end point are concurrent, so at equal
// times beginnings come before ends. Within a process, which is sequential, the end comes first.

import type { Operation, OpRef } from '../data/types.ts';
import { byName } from '../text.ts';

export interface Placed {
  op: OpRef;
  /** An index into `processes`. */
  lane: number;
  /** The first and the last column. */
  from: number;
  to: number;
}

export interface Columns {
  processes: string[];
  placed: Placed[];
  columns: number;
}

/** Arranges operations; those without an end reach to the last column. */
export function columns(operations: Operation[], refs: OpRef[]): Columns {
  const known = [...new Set(refs)].filter(op => operations[op] !== undefined);
  const names = new Set(known.map(op => operations[op]!.process));
  const processes = [...names].sort(byName);
  const events = known.flatMap(op => {
    const { start, end } = operations[op]!;
    return [{ op, time: start, isEnd: false }, ...(end === null ? [] : [{ op, time: end, isEnd: true }])];
  });
  // A process whose next operation begins when this one returns.
  const isFollowed = (op: OpRef) =>
    known.some(
      other =>
        other !== op &&
        operations[other]!.process === operations[op]!.process &&
        operations[other]!.start === operations[op]!.end &&
        operations[other]!.start >= operations[op]!.start,
    );
  const late = new Map(events.map(event => [event, event.isEnd && !isFollowed(event.op) ? 1 : 0]));
  events.sort(
    (a, b) => a.time - b.time || late.get(a)! - late.get(b)! || Number(b.isEnd) - Number(a.isEnd) || a.op - b.op,
  );
  const from = new Map<OpRef, number>();
  const to = new Map<OpRef, number>();
  let column = 0;
  let hasEnded = false;
  for (const { op, isEnd } of events) {
    if (isEnd) {
      // An operation that took no time has both in one moment.
      to.set(op, Math.max(column, from.get(op) ?? column));
      hasEnded = true;
    } else {
      if (hasEnded) column += 1;
      hasEnded = false;
      from.set(op, column);
    }
  }
  const placed = known
    .map(op => ({
      op,
      lane: processes.indexOf(operations[op]!.process),
      from: from.get(op)!,
      to: operations[op]!.end === null ? column : Math.max(from.get(op)!, to.get(op)!),
    }))
    .sort((a, b) => a.from - b.from || operations[a.op]!.start - operations[b.op]!.start || a.op - b.op);
  return { processes, placed, columns: known.length === 0 ? 0 : column + 1 };
}

/** The operations in rows, with processes as columns: those that begin in a row overlap each other. */
export function rows(operations: Operation[], refs: OpRef[]): { processes: string[]; rows: Row[] } {
  const { processes, placed, columns: count } = columns(operations, refs);
  const made = Array.from({ length: count }, (): Row => ({ cells: processes.map(() => null) }));
  for (const { op, lane, from } of placed) made[from]!.cells[lane] = op;
  return { processes, rows: made };
}

export interface Row {
  /** The operation of each process. */
  cells: (OpRef | null)[];
}

/** Splits the columns into bands that are at most `room` wide where possible. `widthOf` is the width that an operation
 * needs; it is shared by the columns that it covers, which have a `gap` before them. */
export function bands(
  { placed, columns: count }: Columns,
  widthOf: (op: OpRef) => number,
  room: number,
  gap = 0,
): { first: number; last: number }[] {
  const wide = new Array<number>(count).fill(0);
  for (const { op, from, to } of placed) {
    const each = widthOf(op) / (to - from + 1) + gap;
    for (let column = from; column <= to; column += 1) wide[column] = Math.max(wide[column]!, each);
  }
  const made: { first: number; last: number }[] = [];
  let taken = 0;
  for (let column = 0; column < count; column += 1) {
    const last = made.at(-1);
    if (!last || taken + wide[column]! > room) {
      made.push({ first: column, last: column });
      taken = wide[column]!;
    } else {
      last.last = column;
      taken += wide[column]!;
    }
  }
  return made;
}
