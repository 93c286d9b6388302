// Makes room for what changed: the pieces of two values, cut to a width.
//
// What stays is cut first, down to `…`, and keeps what stands next to a change. Only if that is not enough is what
// changed cut too, in its middle, so that its beginning and its end are seen. No piece is left out as long as each has
// room for a few characters.

import { head } from '../text.ts';
import type { Piece } from './diff.ts';

/** What changed is never cut further, in characters. */
const LEAST = 5;

/** The pieces in at most about `width` characters; a last piece `…` stands for those that have no room at all. */
export function fit(pieces: Piece[], width: number): Piece[] {
  const least = ({ text, kind }: Piece) => Math.min(text.length, kind === 'same' ? 1 : LEAST);
  let kept = 0;
  let taken = 0;
  while (kept < pieces.length && (kept < 3 || taken + least(pieces[kept]!) < width)) {
    taken += least(pieces[kept]!);
    kept += 1;
  }
  const shown = pieces.slice(0, kept);
  const changed = shown.filter(piece => piece.kind !== 'same');
  const stays = shown.filter(piece => piece.kind === 'same');
  const forStays = stays.reduce((sum, piece) => sum + least(piece), 0);
  const wide = share(changed, width - forStays, LEAST);
  const used = changed.reduce((sum, piece) => sum + Math.min(piece.text.length, wide), 0);
  const narrow = share(stays, width - used, 1);
  const out = shown.map((piece, at): Piece => {
    const { text, kind } = piece;
    if (kind !== 'same') return { text: cut(text, Math.ceil(wide / 2), Math.floor(wide / 2)), kind };
    // At both ends of the value, only one side is next to a change.
    if (at === 0 && pieces.length > 1) return { text: cut(text, 0, narrow), kind };
    if (at === pieces.length - 1) return { text: cut(text, narrow, 0), kind };
    return { text: cut(text, Math.ceil(narrow / 2), Math.floor(narrow / 2)), kind };
  });
  if (kept < pieces.length) out.push({ text: '…', kind: 'same' });
  return out;
}

/** How much each may have so that all fit: those that need less leave the rest to the others. */
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

/** A text without its middle, `…` included in the room. */
function cut(text: string, front: number, back: number): string {
  if (text.length <= front + back) return text;
  const [begin, end] = front >= back ? [front - 1, back] : [front, back - 1];
  let from = text.length - Math.max(0, end);
  // Never half of a pair.
  if (/[\udc00-\udfff]/.test(text.charAt(from))) from += 1;
  return `${head(text, Math.max(0, begin))}…${text.slice(from)}`;
}
