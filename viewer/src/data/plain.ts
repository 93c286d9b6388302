// Builds a history from a report without a timeline: it has only the operations that the report lists.
//
// Times in a report are rounded beyond 2^53. Operations are sorted by start, then in the order of the report. Equal
// times count as one moment: an operation that returns at the moment another begins is not before it.

import { byName } from '../text.ts';
import type { Columns } from './decode.ts';
import type { Op } from './history.ts';
import type { Report, Timeline } from './types.ts';

/** The timeline, its only chunk, and its operations by start. */
export function fromReport(report: Report): { timeline: Timeline; columns: Columns; operations: Op[] } {
  const startOf = (i: number) => report.operations[i]!.start;
  const order = report.operations.map((_, i) => i).sort((a, b) => startOf(a) - startOf(b) || a - b);
  const times = report.operations.flatMap(op => (op.end === null ? [op.start] : [op.start, op.end]));
  const moments = [...new Set(times)].sort((a, b) => a - b);
  const rank = new Map(moments.map((time, i) => [time, i]));
  const processes = [...new Set(order.map(i => report.operations[i]!.process))].sort(byName);
  const origin = moments[0] ?? 0;
  const count = order.length;
  const operations = order.map((i, at): Op => {
    const { name, process, text, action, args, results, meta, start, end } = report.operations[i]!;
    return {
      at,
      name,
      process: processes.indexOf(process),
      index: Number(name.slice(name.lastIndexOf(':') + 1)) || 0,
      action,
      text,
      args,
      results,
      meta,
      start: start - origin,
      end: end === null ? null : end - origin,
      from: rank.get(start)!,
      to: end === null ? moments.length : rank.get(end)!,
    };
  });
  const columns: Columns = {
    count,
    start: Float64Array.from(operations, op => op.start),
    end: Float64Array.from(operations, op => op.end ?? Number.POSITIVE_INFINITY),
    from: Uint32Array.from(operations, op => op.from),
    to: Uint32Array.from(operations, op => op.to),
    process: Uint32Array.from(operations, op => op.process),
    index: Uint32Array.from(operations, op => op.index),
    shape: new Uint32Array(count),
    values: () => [],
  };
  const mentioned: number[] = [];
  for (let at = 0; at < count; at += 1) mentioned[order[at]!] = at;
  const span = (moments.at(-1) ?? origin) - origin;
  const counts = new Map<string, number>();
  for (const op of operations) counts.set(op.action, (counts.get(op.action) ?? 0) + 1);
  const timeline: Timeline = {
    processes,
    shapes: [],
    operations: count,
    origin: String(origin),
    ranks: moments.length,
    chunks: count === 0 ? [] : [{ first: 0, count, ranks: [0, moments.length], times: [0, span] }],
    steps: 0,
    orders: [],
    mentioned,
    overview: { widths: [], flights: [] },
    actions: [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count),
    long: operations.filter(op => op.end === null).map(op => op.at),
  };
  return { timeline, columns, operations };
}
