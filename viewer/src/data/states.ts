// States along the order, decoded from deltas.
// One state is stored in full; its neighbours follow by splices, so reaching a state costs one splice per step. Every
// 32nd state on the way is cached, so that after the first time a jump costs at most 32 splices of each variable.
// A range of earlier states may be loaded in addition; it does not affect steps or interpretations.

import type { Splice, States as StatesPart } from './types.ts';

const STRIDE = 32;
/** The number of states that are searched for functions. */
const NEAR = 64;

export class States {
  readonly part: StatesPart;
  readonly earlier: States | null;
  private readonly known = new Map<number, string[]>();
  private readonly ended: Map<number, string[]>[];

  constructor(part: StatesPart, earlier: States | null = null) {
    this.part = part;
    this.earlier = earlier;
    this.ended = part.endings.map(() => new Map());
  }

  get variables(): string[] {
    return this.part.variables;
  }

  private readonly functions = new Map<number, boolean>();

  /** True if a variable is a function in some of the nearest states, however it is spelled in others. */
  isFunction(variable: number): boolean {
    const known = this.functions.get(variable);
    if (known !== undefined) return known;
    const { first, until, endings } = this.part;
    const isOne = (count: number, ending = 0) => this.state(count, ending)?.[variable]?.startsWith('(') ?? false;
    let found = endings.some(({ forth }, ending) => isOne(until + forth.length, ending));
    for (let count = until; count >= Math.max(first, until - NEAR) && !found; count -= 1) found = isOne(count);
    this.functions.set(variable, found);
    return found;
  }

  /** The values of the variables after `count` steps: common steps first, then those of the ending. Null if unknown. */
  state(count: number, ending: number): string[] | null {
    const { first, until, last, ids, back } = this.part;
    if (ids.length === 0 || count < first) return this.before(count)?.state(count, ending) ?? null;
    if (count > until) return this.after(count - until, ending);
    if (count === until) return last;
    let at = Math.min(until, Math.ceil(count / STRIDE) * STRIDE);
    while (at < until && !this.known.has(at)) at += STRIDE;
    at = Math.min(at, until);
    let values = this.known.get(at) ?? last;
    while (at > count) {
      at -= 1;
      values = apply(values, back[at - first] ?? []);
      if (at % STRIDE === 0) this.known.set(at, values);
    }
    return values;
  }

  /** The fingerprint of the state after `count` steps; null if unknown. */
  id(count: number, ending: number): string | null {
    const { first, until, ids, endings } = this.part;
    if (count > until) return endings[ending]?.ids[count - until - 1] ?? null;
    if (count < first) return this.before(count)?.id(count, ending) ?? null;
    return ids[count - first] ?? null;
  }

  /** The earlier range, if it reaches that far. */
  private before(count: number): States | null {
    return this.earlier && count <= this.earlier.part.until ? this.earlier : null;
  }

  private after(steps: number, ending: number): string[] | null {
    const forth = this.part.endings[ending]?.forth;
    const known = this.ended[ending];
    if (!forth || !known || steps > forth.length) return null;
    let at = steps;
    while (at > 0 && !known.has(at)) at -= 1;
    let values = known.get(at) ?? this.part.last;
    for (; at < steps; at += 1) values = apply(values, forth[at]!);
    known.set(steps, values);
    return values;
  }
}

function apply(values: string[], splices: Splice[]): string[] {
  const next = values.slice();
  for (const [variable, front, back, insert] of splices) {
    const old = next[variable]!;
    next[variable] = old.slice(0, front) + insert + old.slice(old.length - back);
  }
  return next;
}
