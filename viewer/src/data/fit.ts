// Cuts the pieces of a diff to a width, and keeps the change visible.
//
// Unchanged text is cut first, down to `…`, keeping the characters next to a change. If that is not enough, removed
// text is cut, also down to `…`, and only then added text, each in the middle, so that both ends stay visible. No piece
// is dropped while each has room for a few characters.

import { cutInside } from '../text.ts';
import type { Piece } from './diff.ts';

/** Shown between removed text and the added text that replaces it. */
export const ARROW = ' → ';

/** Minimum width of a piece, in characters. The new text is what a reader looks for. */
const LEAST = { same: 1, removed: 1, added: 5 };

/** Cuts the pieces to about `width` characters. A final `…` stands for the dropped pieces. */
export function fit(pieces: Piece[], width: number): Piece[] {
  const least = ({ text, kind }: Piece) => Math.min(text.length, LEAST[kind]);
  let kept = 0;
  let taken = 0;
  let arrows = 0;
  while (kept < pieces.length && (kept < 3 || taken + least(pieces[kept]!) < width)) {
    const arrow = isReplacement(pieces, kept) ? ARROW.length : 0;
    taken += least(pieces[kept]!) + arrow;
    arrows += arrow;
    kept += 1;
  }
  const room = width - arrows;
  const shown = pieces.slice(0, kept);
  const of = (kind: Piece['kind']) => shown.filter(piece => piece.kind === kind);
  const [added, removed, same] = [of('added'), of('removed'), of('same')];
  const total = (group: Piece[], each: number) => group.reduce((sum, { text }) => sum + Math.min(text.length, each), 0);
  const wide = { added: 0, removed: 0 };
  wide.added = share(added, room - total(removed, LEAST.removed) - total(same, LEAST.same), LEAST.added);
  const left = room - total(added, wide.added);
  wide.removed = share(removed, left - total(same, LEAST.same), LEAST.removed);
  const narrow = share(same, left - total(removed, wide.removed), LEAST.same);
  const out = shown.map((piece, at): Piece => {
    const { text, kind } = piece;
    if (kind !== 'same') return { text: cutInside(text, Math.ceil(wide[kind] / 2), Math.floor(wide[kind] / 2)), kind };
    // At either end of the value, only one side is next to a change.
    if (at === 0 && pieces.length > 1) return { text: cutInside(text, 0, narrow), kind };
    if (at === pieces.length - 1) return { text: cutInside(text, narrow, 0), kind };
    return { text: cutInside(text, Math.ceil(narrow / 2), Math.floor(narrow / 2)), kind };
  });
  if (kept < pieces.length) out.push({ text: '…', kind: 'same' });
  return out;
}

/** True if the piece at `at` is added text that directly follows the removed text it replaces. */
export function isReplacement(pieces: Piece[], at: number): boolean {
  return pieces[at]?.kind === 'added' && pieces[at - 1]?.kind === 'removed';
}

/** The width for each piece so that all fit; short pieces leave room for long ones. */
function share(pieces: Piece[], room: number, least: number): number {
  const lengths = pieces.map(piece => piece.text.length).sort((a, b) => a - b);
  let left = room;
  for (const [at, length] of lengths.entries()) {
    const each = Math.floor(left / (lengths.length - at));
    if (length > each) return Math.max(least, each);
    left -= length;
  }
  return Number.MAX_SAFE_INTEGER;
}
