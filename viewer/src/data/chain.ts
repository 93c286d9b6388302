// Why operations contradict each other, as links from one to the next: what the order of their times says, and which
// returned a value that another was given.

import type { Operation, OpRef, Report } from './types.ts';

export interface Link {
  from: OpRef;
  to: OpRef;
  /** `time`: `from` returned before `to` began. `process`: both are of one process. `value`: `to` returned what `from`
   * was given. `none`: `to`, which is `from`, returned what no operation was given. */
  kind: 'time' | 'process' | 'value' | 'none';
}

/** The links between operations, by the start of the later one. Those that follow from others are left out. */
export function chain({ operations, order }: Pick<Report, 'operations' | 'order'>, refs: OpRef[]): Link[] {
  const known = refs.filter(op => operations[op]).sort((a, b) => operations[a]!.start - operations[b]!.start || a - b);
  const linkOf = (from: OpRef, to: OpRef): Link | null => {
    const [a, b] = [operations[from]!, operations[to]!];
    if (a.end === null || from === to) return null;
    if (a.process === b.process && a.start <= b.start && a.end <= b.start) return { from, to, kind: 'process' };
    return order === 'real-time' && a.end < b.start ? { from, to, kind: 'time' } : null;
  };
  const links = known.flatMap(to =>
    known.flatMap(from => {
      const link = linkOf(from, to);
      const isImplied = known.some(other => linkOf(from, other) && linkOf(other, to));
      return link && !isImplied ? [link] : [];
    }),
  );
  for (const to of known) {
    const givers = known.filter(from => from !== to && gives(operations[from]!, operations[to]!));
    if (givers.length === 1) links.push({ from: givers[0]!, to, kind: 'value' });
    if (givers.length === 0 && operations[to]!.results.length > 0) links.push({ from: to, to, kind: 'none' });
  }
  const startOf = (op: OpRef) => operations[op]!.start;
  return links.sort((a, b) => startOf(a.to) - startOf(b.to) || startOf(a.from) - startOf(b.from));
}

/** True if an operation returned a value that the other one was given, and that it was not given itself. */
function gives(giver: Operation, taker: Operation): boolean {
  const own = new Set(taker.args.map(field => field.value));
  const given = new Set(giver.args.map(field => field.value));
  return taker.results.some(({ value }) => !own.has(value) && given.has(value));
}
