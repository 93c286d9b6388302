// Short names of operations: the action, its arguments and its results, without punctuation: `Enqueue 4`, `Dequeue → 5`.
//
// Where that does not fit, results behind arguments are left out, then the words of the action are abbreviated, `Deq → 5`;
// then values are cut in the middle, because long values tend to differ at their ends. The action always stays.

import { cutInside, visible } from '../text.ts';

export interface Named {
  action: string;
  args: { value: string }[];
  results: { value: string }[];
}

/** Values are not cut to less than this many characters. */
const LEGIBLE = 5;
/** Values longer than this are cut in a short name. */
const LONGEST = 24;

/** The values of an operation: ` 4`, ` → 5`, ` 4 → 5`; empty if it has none. */
function valuesOf({ args, results }: Named, most: number): string {
  const text = (fields: { value: string }[]) => fields.map(({ value }) => cutMiddle(visible(value), most)).join(', ');
  return `${args.length > 0 ? ` ${text(args)}` : ''}${results.length > 0 ? ` → ${text(results)}` : ''}`;
}

/** The short name of an operation, with the action and each value cut to `most` characters. */
export function shortName(op: Named, most = LONGEST): string {
  return cutMiddle(visible(op.action), most) + valuesOf(op, most);
}

/** The longest name of an operation of at most `room` characters: its short name, or a part of that which begins with the
 * action. Empty if less than two characters fit. */
export function nameWithin(op: Named, room: number): string {
  if (room < 2) return '';
  const action = visible(op.action);
  const [values, args] = [valuesOf(op, LONGEST), valuesOf({ ...op, results: [] }, LONGEST)];
  const cut = abbreviated(action);
  const names = [action + values, ...(args ? [action + args] : []), cut + values, cut + args];
  const found = names.find(name => name.length <= room);
  if (found !== undefined) return found;
  const left = room - cut.length - 1;
  if (left >= LEGIBLE) return `${cut} ${cutMiddle((args || values).trimStart(), left)}`;
  return action.length <= room ? action : cutMiddle(cut, room);
}

/** A name with each of its words cut to three letters, the same wherever it does not fit: `DequeueEmpty` as `DeqEmp`. */
function abbreviated(name: string): string {
  const words = name.match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|[^\p{L}]+/gu) ?? [name];
  return words.map(word => word.slice(0, 3)).join('');
}

/** Cuts the middle of a text, so that at most `room` characters are left. */
export function cutMiddle(text: string, room: number): string {
  const back = Math.max(0, Math.floor((room - 1) / 2));
  return room < 1 ? '' : cutInside(text, room - back, back);
}

/** A common prefix of at most this length stays before numbers: `api-1` says more than `1`. */
const KEPT = 10;

/** The texts without the longest prefix of whole words that all of them share. Words end at `-`, `_`, `.`, `/`, `:` or a
 * blank. Kept if a text would become empty, if it is short and a number would be left, or if there is a single text. */
export function withoutCommonPrefix(texts: string[]): string[] {
  const [first = '', ...others] = texts;
  if (others.length === 0) return texts;
  let same = first.length;
  for (const other of others) {
    let i = 0;
    while (i < same && first[i] === other[i]) i += 1;
    same = i;
  }
  const prefix = first.slice(0, same).replace(/[^-_./: ]*$/, '');
  const rests = texts.map(text => text.slice(prefix.length));
  const isKept = rests.some(rest => rest === '' || (prefix.length <= KEPT && /^\d+$/.test(rest)));
  return isKept ? texts : rests;
}
