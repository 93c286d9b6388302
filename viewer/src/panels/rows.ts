// Arranges operations in rows with processes as columns; operations in one row overlap.
//
// Times in a report are rounded beyond 2^53, so equal times have no order: an operation comes after another only if it
// begins strictly later than the other returned. Operations that begin at the same time keep the order of the report.

import type { Operation, OpRef } from '../data/types.ts';

export interface Row {
  /** The operation in each column. */
  cells: (OpRef | null)[];
  /** True if all operations of earlier rows returned before this row began. */
  cut: boolean;
}

/** Arranges operations by start in as few rows as the order of each process allows. */
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
    // All operations in a row overlap: none of them returned before another began.
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
