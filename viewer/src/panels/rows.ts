// Operations in rows, processes as columns: what stands in one row overlaps.
//
// Times in a report are rounded beyond 2^53, so times that are equal here are not in order: only who begins strictly later
// than another returned comes after it, and operations that begin at the same time stay as the report lists them.

import type { Operation, OpRef } from '../data/types.ts';

export interface Row {
  /** The operation in each column. */
  cells: (OpRef | null)[];
  /** Everything before returned before this row began. */
  cut: boolean;
}

/** Puts operations into rows by start: as few as keep the order of each process. */
export function rows(operations: Operation[], refs: OpRef[]): { processes: string[]; rows: Row[] } {
  const startOf = (op: OpRef) => operations[op]?.start ?? 0;
  const window = refs.toSorted((a, b) => startOf(a) - startOf(b) || a - b);
  const processes: string[] = [];
  for (const op of window) {
    const name = operations[op]?.process;
    if (name !== undefined && !processes.includes(name)) processes.push(name);
  }
  processes.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const made: Row[] = [];
  let latest = Number.NEGATIVE_INFINITY;
  let earliest = Number.POSITIVE_INFINITY;
  for (const op of window) {
    const operation = operations[op];
    if (!operation) continue;
    const column = processes.indexOf(operation.process);
    const last = made[made.length - 1];
    const cut = operation.start > latest;
    // A row holds operations that may all overlap: none of them returned before another began.
    if (!last || cut || operation.start > earliest || last.cells[column] !== null) {
      const cells: (OpRef | null)[] = processes.map(() => null);
      cells[column] = op;
      made.push({ cells, cut: made.length > 0 && cut });
      earliest = operation.end ?? Number.POSITIVE_INFINITY;
    } else {
      last.cells[column] = op;
      earliest = Math.min(earliest, operation.end ?? Number.POSITIVE_INFINITY);
    }
    latest = Math.max(latest, operation.end ?? Number.POSITIVE_INFINITY);
  }
  return { processes, rows: made };
}
