// How much an accepted history tested: a history without overlaps or with one action says little.

import type { History, Loaded } from './history.ts';

export interface Tested {
  /** Operations that overlapped another one by more than an end point. */
  overlapped: number;
  /** The median duration of the operations that returned; null if none did. */
  median: number | null;
}

const known = new WeakMap<History, Tested>();

/** How much a history tested; null until it is loaded as a whole. */
export function testedIn(history: History): Tested | null {
  const found = known.get(history);
  if (found || history.hasPoints) return found ?? null;
  const chunks = history.timeline.chunks.map((_, k) => history.peek(k));
  if (!chunks.every(chunk => chunk !== null)) return null;
  const made = measure(chunks);
  known.set(history, made);
  return made;
}

/** Operations come by start: one overlaps an earlier one if it begins before the latest end so far, and a later one if
 * the next begins before its own end. */
function measure(chunks: Loaded[]): Tested {
  let [overlapped, latest] = [0, Number.NEGATIVE_INFINITY];
  const durations: number[] = [];
  for (const [k, { count, start, end }] of chunks.entries()) {
    for (let i = 0; i < count; i += 1) {
      const next = i + 1 < count ? start[i + 1]! : (chunks[k + 1]?.start[0] ?? Number.POSITIVE_INFINITY);
      if (start[i]! < latest || next < end[i]!) overlapped += 1;
      latest = Math.max(latest, end[i]!);
      if (Number.isFinite(end[i])) durations.push(end[i]! - start[i]!);
    }
  }
  const sorted = Float64Array.from(durations).sort();
  return { overlapped, median: sorted[Math.floor(sorted.length / 2)] ?? null };
}
