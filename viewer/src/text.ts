// How strings from a trace become text that is safe to look at.
//
// A trace may hold anything: controls that reverse the direction of a line, characters without width, a megabyte of
// digits. Everything that came from outside passes through `visible` on its way to a text node, and is cut first, so
// that a long string costs no more than what is shown of it. Counts and times are written here too, so that they look
// the same everywhere.

const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text with every character that cannot be seen, or that moves others, written as `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, unit => `⟨U+${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The first `width` units of a text, never half of a pair. */
export function head(text: string, width: number): string {
  if (text.length <= width) return text;
  const code = text.charCodeAt(width - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? width - 1 : width);
}

/** A text made visible, and cut with `…` if it is longer than `width`. */
export function brief(text: string, width: number): string {
  return text.length <= width ? visible(text) : `${visible(head(text, width))}…`;
}

/** The same for a text of several lines, which stay lines. */
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

/** `A`, `B`, …, `Z`, `AA`, …: what a state is called in the page. */
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

/** A word as a shell reads it back. */
export function quoted(word: string): string {
  return `'${word.replace(/'/g, `'\\''`)}'`;
}

/** Seconds as a person says them. */
export function seconds(s: number): string {
  if (s < 0.001) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${Math.round(s * 1e3)} ms`;
  if (s < 120) return `${s.toFixed(1)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return `${(s / 3600).toFixed(1)} h`;
}

/** The place of a byte in the UTF-16 units of a text. Spans count bytes. */
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

/** Line (from 1) and column (from 1) of a byte. */
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
