// Parses assumptions, and decides whether an order of operations satisfies one.
//
// `T0:12 < T3:7`: the first operation completes before the second takes a step. `T3:7 = 1a2b3c4d5e6f`: the state after
// the operation has this fingerprint. An operation may take several steps, and all but the last leave it partway. It
// completes with its last step, or not at all if that step leaves it partway. The check uses the same rules.

export type Assumption = { kind: 'order'; first: string; second: string } | { kind: 'state'; op: string; id: string };

/** Parses an assumption; null if invalid. Process names are arbitrary, so a sign between blanks takes precedence. */
export function read(text: string): Assumption | null {
  for (const blank of [' ', '']) {
    const order = halves(text, text.indexOf(`${blank}<${blank}`), blank.length);
    if (order) return { kind: 'order', first: order[0], second: order[1] };
    const state = halves(text, text.lastIndexOf(`${blank}=${blank}`), blank.length);
    if (state) return { kind: 'state', op: state[0], id: state[1] };
  }
  return null;
}

/** The trimmed texts before and after a sign; null if either is empty. */
function halves(text: string, at: number, blank: number): [string, string] | null {
  if (at < 0) return null;
  const [left, right] = [text.slice(0, at).trim(), text.slice(at + 1 + 2 * blank).trim()];
  return left && right ? [left, right] : null;
}

export function write(assumption: Assumption): string {
  if (assumption.kind === 'order') return `${assumption.first} < ${assumption.second}`;
  return `${assumption.op} = ${assumption.id}`;
}

export function namesIn(assumption: Assumption): string[] {
  return assumption.kind === 'order' ? [assumption.first, assumption.second] : [assumption.op];
}

/** An order of operations. Steps count from 0. */
export interface Way {
  /** The first step of an operation; null if it takes none. */
  begins(op: string): number | null;
  /** The step with which an operation completes; null if it never does. */
  over(op: string): number | null;
  /** The fingerprint of the state after a step; null if unknown. */
  idAfter(step: number): string | null;
}

/** Whether the order satisfies the assumption; null if it is about an unknown state. */
export function keeps(assumption: Assumption, way: Way): boolean | null {
  if (assumption.kind === 'order') {
    const second = way.begins(assumption.second);
    if (second === null) return true;
    const first = way.over(assumption.first);
    return first !== null && first < second;
  }
  const at = way.over(assumption.op);
  if (at === null) return true;
  const id = way.idAfter(at);
  return id === null ? null : id === assumption.id;
}
