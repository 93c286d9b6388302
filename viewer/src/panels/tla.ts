// Parses printed TLA+ values, to draw functions as tables and to compare states part by part.
//
// This is not a TLA+ parser: it recognizes sets, tuples, records, functions written with `:>` and `@@`, and strings;
// everything else is one word. Unrecognized and long values stay text.

export type Node =
  | { kind: 'word'; text: string }
  | { kind: 'set' | 'tuple'; items: Node[] }
  | { kind: 'record' | 'function'; entries: { key: string; value: Node }[] };

/** A value with keys. */
export type Keyed = Node & { kind: 'record' | 'function' };

const LONGEST = 60_000;

/** Parses a value; null if it is unrecognized or too long. */
export function parseValue(text: string): Node | null {
  if (text.length > LONGEST) return null;
  const words = text.match(/"(?:[^"\\]|\\.)*"|<<|>>|\|->|:>|@@|[[\]{}(),]|[^\s"[\]{}(),<>:@|]+|\S/gu) ?? [];
  let at = 0;
  const next = () => words[at];
  const take = (word: string) => {
    if (words[at] !== word) throw new SyntaxError(word);
    at += 1;
  };
  const items = (end: string): Node[] => {
    const found: Node[] = [];
    while (next() !== end) {
      if (found.length > 0) take(',');
      found.push(value());
    }
    take(end);
    return found;
  };
  const value = (): Node => {
    const word = next();
    if (word === undefined) throw new SyntaxError('end');
    at += 1;
    if (word === '{') return { kind: 'set', items: items('}') };
    if (word === '<<') return { kind: 'tuple', items: items('>>') };
    if (word === '[') {
      const entries: { key: string; value: Node }[] = [];
      while (next() !== ']') {
        if (entries.length > 0) take(',');
        const key = next() ?? '';
        at += 1;
        take('|->');
        entries.push({ key, value: value() });
      }
      take(']');
      return { kind: 'record', entries };
    }
    if (word === '(') {
      const entries: { key: string; value: Node }[] = [];
      do {
        if (entries.length > 0) take('@@');
        const key = print(value());
        take(':>');
        entries.push({ key, value: value() });
      } while (next() !== ')');
      take(')');
      return { kind: 'function', entries };
    }
    if (/^(?:[\]}),]|>>|:>|@@|\|->)$/.test(word)) throw new SyntaxError(word);
    return { kind: 'word', text: word };
  };
  try {
    const node = value();
    return at === words.length ? node : null;
  } catch {
    return null;
  }
}

/** The parts of a function, a record or a sequence by key, as TLA+ prints keys; null for other values. */
export function partsOf(node: Node): Map<string, Node> | null {
  if (node.kind === 'record') return new Map(node.entries.map(({ key, value }) => [`"${key}"`, value]));
  if (node.kind === 'function') return new Map(node.entries.map(({ key, value }) => [key, value]));
  return node.kind === 'tuple' ? new Map(node.items.map((value, at) => [String(at + 1), value])) : null;
}

export function print(node: Node): string {
  switch (node.kind) {
    case 'word':
      return node.text;
    case 'set':
      return `{${node.items.map(print).join(', ')}}`;
    case 'tuple':
      return `<<${node.items.map(print).join(', ')}>>`;
    case 'record':
      return `[${node.entries.map(({ key, value }) => `${key} |-> ${print(value)}`).join(', ')}]`;
    case 'function':
      return `(${node.entries.map(({ key, value }) => `${key} :> ${print(value)}`).join(' @@ ')})`;
  }
}

/** True if a value is drawn as a table. */
export function isTable(node: Node | null): node is Keyed {
  return node !== null && (node.kind === 'record' || node.kind === 'function') && node.entries.length > 0;
}

/** The columns of a table: the keys of its values, if all are records with the same keys. Null otherwise. */
export function columnsOf(node: Keyed): string[] | null {
  const first = node.entries[0]?.value;
  if (node.entries.length < 2 || first?.kind !== 'record' || first.entries.length > 8) return null;
  const keys = first.entries.map(({ key }) => key);
  const same = node.entries.every(
    ({ value }) =>
      value.kind === 'record' &&
      value.entries.length === keys.length &&
      value.entries.every(({ key }, at) => key === keys[at]),
  );
  return same ? keys : null;
}
