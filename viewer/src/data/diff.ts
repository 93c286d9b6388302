// A structural diff of two printed values.
//
// A value is split at its enclosing brackets and at the commas between them; nested brackets belong to one element.
// Equal elements at both ends are kept, and of those between, a longest common subsequence, unless there are too many.
// Where as many elements were removed as added, they are compared pairwise, and pairs with the same key or the same
// brackets are compared recursively. A text without brackets is one element. The input can be any text, even if it is
// not a value: the pieces always make up both texts.

export interface Piece {
  text: string;
  kind: 'same' | 'added' | 'removed';
}

/** Above this many elements, no common subsequence is computed: the middle counts as changed. */
const MOST = 400;
const DEPTH = 6;

/** The `same` and `removed` pieces make up `before`; the `same` and `added` pieces make up `after`. */
export function diff(before: string, after: string): Piece[] {
  const pieces: Piece[] = [];
  compare(before, after, 0, pieces);
  return merge(pieces);
}

function compare(before: string, after: string, depth: number, out: Piece[]): void {
  if (before === after) {
    out.push({ text: before, kind: 'same' });
    return;
  }
  const old = depth < DEPTH ? split(before) : null;
  const next = depth < DEPTH ? split(after) : null;
  if (!old || !next || old.open !== next.open || old.close !== next.close) {
    out.push({ text: before, kind: 'removed' }, { text: after, kind: 'added' });
    return;
  }
  out.push({ text: old.open, kind: 'same' });
  elements(old.elements, next.elements, depth, out);
  out.push({ text: old.close, kind: 'same' });
}

interface Element {
  /** The element without its separator. */
  text: string;
  /** The separator before the element, with the blanks around it. */
  before: string;
}

interface Split {
  open: string;
  elements: Element[];
  close: string;
}

const OPEN = ['<<', '{', '[', '('];
const CLOSE = ['>>', '}', ']', ')'];

/** Splits a value at its outermost brackets; null if it has none. */
function split(text: string): Split | null {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const bracket = OPEN.findIndex(open => text.startsWith(open, start));
  const closes = bracket >= 0 && text.endsWith(CLOSE[bracket]!);
  // The short spelling of a function has no brackets.
  const isBare = !closes && text.includes('→');
  if (!closes && !isBare) return null;
  const from = isBare ? start : start + OPEN[bracket]!.length;
  const to = isBare ? end : end - CLOSE[bracket]!.length;
  if (to < from) return null;
  const elements: Element[] = [];
  let depth = 0;
  let begin = from;
  let separator = '';
  TOKEN.lastIndex = from;
  for (const { 0: token, index } of text.slice(0, to).matchAll(TOKEN)) {
    if (OPEN.includes(token)) depth += 1;
    else if (CLOSE.includes(token)) depth -= 1;
    else if (depth === 0 && (token === ',' || token === '@@')) {
      // Blanks around the separator belong to it: `1 @@ 2`.
      const element = text.slice(begin, index).trimEnd();
      const rest = text.slice(index + token.length, to);
      elements.push({ text: element, before: separator });
      const next = to - rest.trimStart().length;
      separator = text.slice(begin + element.length, next);
      begin = next;
    }
    // The outer brackets do not match each other: `(a) + (b)`.
    if (depth < 0) return null;
  }
  if (depth !== 0) return null;
  if (begin < to || separator) elements.push({ text: text.slice(begin, to), before: separator });
  return { open: text.slice(0, from), elements, close: text.slice(to) };
}

/** Strings, brackets, the separators of elements and of the pairs of a function, and other text. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|<<|>>|@@|[[\]{}(),]|[^"<>@[\]{}(),]+|./gs;

function elements(old: Element[], next: Element[], depth: number, out: Piece[]): void {
  let front = 0;
  const most = Math.min(old.length, next.length);
  while (front < most && old[front]!.text === next[front]!.text) front += 1;
  let back = 0;
  while (back < most - front && old[old.length - 1 - back]!.text === next[next.length - 1 - back]!.text) back += 1;
  for (let i = 0; i < front; i += 1) keep(old[i]!, next[i]!, out);
  middle(old.slice(front, old.length - back), next.slice(front, next.length - back), depth, out);
  for (let i = back; i > 0; i -= 1) keep(old[old.length - i]!, next[next.length - i]!, out);
}

function keep(old: Element, next: Element, out: Piece[]): void {
  around(old.before, next.before, out);
  out.push({ text: old.text, kind: 'same' });
}

function around(before: string, after: string, out: Piece[]): void {
  if (before === after) out.push({ text: before, kind: 'same' });
  else out.push({ text: before, kind: 'removed' }, { text: after, kind: 'added' });
}

function middle(old: Element[], next: Element[], depth: number, out: Piece[]): void {
  const kept = old.length * next.length === 0 || old.length > MOST || next.length > MOST ? [] : common(old, next);
  let i = 0;
  let j = 0;
  for (const [a, b] of [...kept, [old.length, next.length] as const]) {
    change(old.slice(i, a), next.slice(j, b), depth, out);
    if (a < old.length) keep(old[a]!, next[b]!, out);
    i = a + 1;
    j = b + 1;
  }
}

function change(old: Element[], next: Element[], depth: number, out: Piece[]): void {
  if (old.length === next.length && old.every((element, i) => alike(element.text, next[i]!.text))) {
    for (const [i, element] of old.entries()) {
      around(element.before, next[i]!.before, out);
      inside(element.text, next[i]!.text, depth, out);
    }
    return;
  }
  // Elements that replace others share the separator before them: `{1, 5 → 7}`.
  const shared = old[0]?.before === next[0]?.before ? (old[0]?.before ?? '') : null;
  if (shared !== null) out.push({ text: shared, kind: 'same' });
  const textOf = ({ text, before }: Element, at: number) => (at === 0 && shared !== null ? text : before + text);
  for (const [at, element] of old.entries()) out.push({ text: textOf(element, at), kind: 'removed' });
  for (const [at, element] of next.entries()) out.push({ text: textOf(element, at), kind: 'added' });
}

const KEY = /^[^"<{[(]*?(\|->|:>|→)\s*|^"(?:[^"\\]|\\.)*"\s*(:>|→)\s*/;

function keyOf(text: string): string {
  return KEY.exec(text)?.[0] ?? '';
}

/** True if two elements are worth comparing recursively: same key, or same kind of bracket. */
function alike(before: string, after: string): boolean {
  const key = keyOf(before);
  if (key !== keyOf(after)) return false;
  if (key) return true;
  const bracket = OPEN.find(open => before.startsWith(open));
  return bracket !== undefined && after.startsWith(bracket);
}

function inside(before: string, after: string, depth: number, out: Piece[]): void {
  const key = keyOf(before);
  if (key) out.push({ text: key, kind: 'same' });
  compare(before.slice(key.length), after.slice(key.length), depth + 1, out);
}

/** The index pairs of a longest common subsequence. */
function common(old: Element[], next: Element[]): [number, number][] {
  const wide = next.length + 1;
  const table = new Uint16Array((old.length + 1) * wide);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      table[i * wide + j] =
        old[i]!.text === next[j]!.text
          ? table[(i + 1) * wide + j + 1]! + 1
          : Math.max(table[(i + 1) * wide + j]!, table[i * wide + j + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < old.length && j < next.length; ) {
    if (old[i]!.text === next[j]!.text) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (table[(i + 1) * wide + j]! >= table[i * wide + j + 1]!) i += 1;
    else j += 1;
  }
  return pairs;
}

function merge(pieces: Piece[]): Piece[] {
  const merged: Piece[] = [];
  for (const { text, kind } of pieces) {
    const last = merged.at(-1);
    if (text === '') continue;
    if (last?.kind === kind) last.text += text;
    else merged.push({ text, kind });
  }
  return merged;
}
