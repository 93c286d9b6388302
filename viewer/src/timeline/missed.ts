// What an operation missed and by which it was missed, in words.

import type { History } from '../data/history.ts';
import { brief, count } from '../text.ts';

const MOST = 6;

/** Lines such as `missed T0:1` and `missed by T1:3`, the selected operation first; none if they do not apply. */
export function missedLines(history: History, at: number, selected: number | null): string[] {
  const lines: string[] = [];
  const missed = history.missed(at);
  if (missed.size > 0) lines.push(`missed ${names(history, [...missed])}`);
  const by = history.missedBy(at);
  const isBySelected = selected !== null && by.includes(selected);
  const sorted = isBySelected ? [selected, ...by.filter(other => other !== selected)] : by;
  if (by.length > 0) lines.push(`missed by ${names(history, sorted)}`);
  return lines;
}

/** The first names; those that are not loaded yet are `…`. */
function names(history: History, places: readonly number[]): string {
  const shown = places.slice(0, MOST).map(at => brief(history.name(at) ?? '…', 60));
  const more = places.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
}
