// Assumptions as text, and whether an order of operations keeps one.
//
// `T0:12 < T3:7`: the first is over before the second takes a step. `T3:7 = 1a2b3c4d5e6f`: the state in which the
// operation is over has this fingerprint. An operation may take several steps; all but the last leave it partway, so it
// is over with its last step, and not at all if that one leaves it partway. The rules are those of the check itself.

export type Assumption = { kind: 'order'; first: string; second: string } | { kind: 'state'; op: string; id: string };

/** Reads an assumption; null if it is none. The name of a process may be anything, and blanks make clear what is meant. */
export function read(text: string): Assumption | null {
  for (const blank of [' ', '']) {
    const order = halves(text, text.indexOf(`${blank}<${blank}`), blank.length);
    if (order) return { kind: 'order', first: order[0], second: order[1] };
    const state = halves(text, text.lastIndexOf(`${blank}=${blank}`), blank.length);
    if (state) return { kind: 'state', op: state[0], id: state[1] };
  }
  return null;
}

/** What stands before and after a sign, if something does. */
function halves(text: string, at: number, blank: number): [string, string] | null {
  if (at < 0) return null;
  const [left, right] = [text.slice(0, at).trim(), text.slice(at + 1 + 2 * blank).trim()];
  return left && right ? [left, right] : null;
}

/** An assumption as it is written. */
export function write(assumption: Assumption): string {
  if (assumption.kind === 'order') return `${assumption.first} < ${assumption.second}`;
  return `${assumption.op} = ${assumption.id}`;
}

/** The operations that it speaks of. */
export function namesIn(assumption: Assumption): string[] {
  return assumption.kind === 'order' ? [assumption.first, assumption.second] : [assumption.op];
}

/** What an order of operations says. Steps count from nought. */
export interface Way {
  /** The first step of an operation; null if it takes none. */
  begins(op: string): number | null;
  /** The step with which an operation is over; null if it never is. */
  over(op: string): number | null;
  /** The fingerprint of the state after a step; null if it is not known. */
  idAfter(step: number): string | null;
}

/** Whether the order keeps the assumption; null if it is about a state that is not known. */
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
