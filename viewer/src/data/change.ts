// What changed in a value, as paths into it: `open[0].sees.z: 0 → 1`.
//
// A function is printed as `(0 :> a @@ 1 :> b)`, as `<<a, b>>` if its domain is 1..n, and as `[x |-> a]` if its domain
// is a set of strings; these are spellings of one kind of value, and are compared by key. Values are also functions of
// their parts, so a change deep inside a long value is one short line. Sequences that grow, shrink or shift, and sets, are
// left to the textual comparison: it shows better where elements were added.

import { type Node, parseValue, partsOf, print } from '../panels/tla.ts';

export interface Change {
  /** Where: `[0].sees.z`; empty for the whole value. */
  path: string;
  /** Null if the part was added. */
  before: string | null;
  /** Null if the part was removed. */
  after: string | null;
}

/** The parts of a value that changed, or null if a comparison of the texts shows more: if the value itself is replaced,
 * a sequence grows, or more than `most` parts changed. Empty if both texts are spellings of the same value. */
export function changes(before: string, after: string, most = 3): Change[] | null {
  const old = parseValue(before);
  const next = parseValue(after);
  if (!old || !next) return null;
  const found: Change[] = [];
  compare(old, next, '', found, most);
  if (found.length > most || found.some(({ path }) => path === '')) return null;
  return found;
}

function compare(old: Node, next: Node, path: string, found: Change[], most: number): void {
  if (found.length > most) return;
  if (isSame(old, next)) return;
  const [left, right] = [entriesOf(old, next), entriesOf(next, old)];
  const isShifted = old.kind === 'tuple' && next.kind === 'tuple' && differences(old.items, next.items) > 1;
  if (!left || !right || isShifted) {
    found.push({ path, before: print(old), after: print(next) });
    return;
  }
  for (const [key, value] of left) {
    const other = right.get(key);
    if (other) compare(value, other, path + step(key), found, most);
    else found.push({ path: path + step(key), before: print(value), after: null });
  }
  for (const [key, value] of right) {
    if (!left.has(key)) found.push({ path: path + step(key), before: null, after: print(value) });
  }
}

/** The number of places at which two sequences differ. */
function differences(old: Node[], next: Node[]): number {
  return old.filter((item, at) => !next[at] || !isSame(item, next[at])).length;
}

/** The parts of a value, if they are to be compared with those of the other one by key. */
function entriesOf(node: Node, other: Node): Map<string, Node> | null {
  // Of two sequences, only those of the same length are compared by index.
  const isOther = other.kind === 'set' || other.kind === 'word';
  if (node.kind === 'tuple' && (isOther || (other.kind === 'tuple' && other.items.length !== node.items.length))) {
    return null;
  }
  return partsOf(node);
}

/** `.name` for a string that is a name, else `[key]`. */
function step(key: string): string {
  const name = /^"([\p{L}_][\p{L}\p{N}_]*)"$/u.exec(key);
  return name ? `.${name[1]}` : `[${key}]`;
}

export function isSame(a: Node, b: Node): boolean {
  if (a.kind === 'word' || b.kind === 'word') return a.kind === b.kind && print(a) === print(b);
  if (a.kind === 'set' || b.kind === 'set') {
    if (a.kind !== 'set' || b.kind !== 'set' || a.items.length !== b.items.length) return false;
    return print(a) === print(b) || a.items.every(item => b.items.some(other => isSame(item, other)));
  }
  const [left, right] = [partsOf(a)!, partsOf(b)!];
  if (left.size !== right.size) return false;
  for (const [key, value] of left) {
    const other = right.get(key);
    if (!other || !isSame(value, other)) return false;
  }
  return true;
}
