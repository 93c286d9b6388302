// The values of the parts of an expression, below it, each at the place of its part:
//
//   ok = (key \in DOMAIN dict)
//   │     │       └ {1, 2, 4}
//   │     └ 3
//   └ FALSE

export interface Part {
  text: string;
  value: string;
}

/** The lines below an expression of one line, at most `room` wide; null if a part is not in it, or if it or a
 * value does not fit. */
export function tree(text: string, parts: Part[], room: number): string[] | null {
  if (text.length > room || text.includes('\n') || parts.length > 8) return null;
  const places = new Map<number, string>();
  // Long parts first: a name may be within another part.
  for (const { text: part, value } of parts.toSorted((a, b) => b.text.length - a.text.length)) {
    const at = placeOf(text, part, places);
    if (at < 0 || at + 2 + value.length > room) return null;
    places.set(at, value);
  }
  const columns = [...places.keys()].sort((a, b) => a - b);
  return columns.toReversed().map((column, i) => {
    let line = '';
    for (const left of columns.slice(0, columns.length - 1 - i)) line = `${line.padEnd(left)}│`;
    const value = places.get(column)!;
    return `${line.padEnd(column)}└ ${value}`;
  });
}

/** Where a part begins that is no piece of a longer name, at a place that is not taken; -1 if it is not there. */
function placeOf(text: string, part: string, taken: Map<number, string>): number {
  const isName = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}_\\]/u.test(letter);
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const isWhole =
      !(isName(part[0]) && isName(text[at - 1])) && !(isName(part.at(-1)) && isName(text[at + part.length]));
    if (isWhole && !taken.has(at)) return at;
  }
  return -1;
}
