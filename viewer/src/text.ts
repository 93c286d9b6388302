// Turns untrusted strings into text that is safe to display.
//
// A trace may contain anything: bidirectional controls, zero-width characters, a megabyte of digits. Every untrusted
// string passes through `visible` before it reaches a text node, and is cut first, so that a long string costs no more
// than its visible part. Counts and times are formatted here too, so that they look the same everywhere.

const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Replaces every invisible or bidirectional control character by its code, such as `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, unit => `⟨U+${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The first `width` UTF-16 units of a text, without splitting a surrogate pair. */
export function head(text: string, width: number): string {
  if (text.length <= width) return text;
  const code = text.charCodeAt(width - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? width - 1 : width);
}

/** `visible` text, cut with `…` if it is longer than `width`. */
export function brief(text: string, width: number): string {
  return text.length <= width ? visible(text) : `${visible(head(text, width))}…`;
}

export function paragraph(text: string, width: number): string {
  const lines = head(text, width).split('\n').map(visible).join('\n');
  return text.length > width ? `${lines}…` : lines;
}

/** `12,345`. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 operation`, `12,345 operations`. */
export function many(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

/** The label of a state: `A`, `B`, …, `Z`, `AA`, … */
export function letter(place: number): string {
  const low = String.fromCharCode(65 + (place % 26));
  return place < 26 ? low : letter(Math.floor(place / 26) - 1) + low;
}

/** `A`, `A and B`, `A, B and 3 more`. */
export function list(words: string[], most = 8): string {
  if (words.length > most) {
    const shown = words.slice(0, most - 1);
    return `${shown.join(', ')} and ${words.length - shown.length} more`;
  }
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

export function base(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

/** The content of a text in quotes; other texts as they are. */
export function unquoted(text: string): string {
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
}

/** Orders names as people do: `T2` before `T10`. */
export function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Cuts the middle of a text: `front` and `back` characters are left at its ends, of which `…` is one. */
export function cutInside(text: string, front: number, back: number): string {
  if (text.length <= front + back) return text;
  const [begin, end] = front >= back ? [front - 1, back] : [front, back - 1];
  const tail = text.slice(text.length - Math.max(0, end));
  // Does not split a surrogate pair.
  return `${head(text, Math.max(0, begin))}…${tail.slice(/^[\udc00-\udfff]/.test(tail) ? 1 : 0)}`;
}

export function quoted(word: string): string {
  return `'${word.replace(/'/g, `'\\''`)}'`;
}

export function seconds(s: number): string {
  if (s < 0.001) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${Math.round(s * 1e3)} ms`;
  if (s < 120) return `${s.toFixed(1)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return `${(s / 3600).toFixed(1)} h`;
}

/** A share from 0 to 1: `31 %`, `6.1 %`, `0.02 %`. */
export function percent(part: number): string {
  const value = 100 * part;
  return `${value === 0 || value >= 10 ? Math.round(value) : Number(value.toPrecision(value >= 1 ? 2 : 1))} %`;
}

/** How often something happens: `6.1 %`, or `1 in 29,000` if it is rare. */
export function frequency(times: number, of: number): string {
  const part = of === 0 ? 0 : times / of;
  return part === 0 || part >= 0.001 ? percent(part) : `1 in ${count(Number((1 / part).toPrecision(2)))}`;
}

/** A time in seconds since 1970, to the minute, or to the second if `isFine`. */
export function date(at: number, isFine = false): string {
  const time = new Date(at * 1000);
  if (Number.isNaN(time.getTime())) return '';
  return time
    .toISOString()
    .slice(0, isFine ? 19 : 16)
    .replace('T', ' ');
}

/** Converts a byte offset to an offset in UTF-16 units. Spans count bytes. */
export function unitOfByte(text: string, byte: number): number {
  let seen = 0;
  let unit = 0;
  while (unit < text.length && seen < byte) {
    const code = text.charCodeAt(unit);
    if (code < 0x80) seen += 1;
    else if (code < 0x800) seen += 2;
    else if (code >= 0xd800 && code <= 0xdbff) {
      seen += 4;
      unit += 1;
    } else seen += 3;
    unit += 1;
  }
  return unit;
}

/** The line and column, both from 1, of a byte offset. */
export function lineOf(text: string, byte: number): { line: number; column: number } {
  const unit = unitOfByte(text, byte);
  let line = 1;
  let start = 0;
  for (let next = text.indexOf('\n'); next !== -1 && next < unit; next = text.indexOf('\n', next + 1)) {
    line += 1;
    start = next + 1;
  }
  return { line, column: unit - start + 1 };
}
