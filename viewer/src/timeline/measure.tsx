// How long something took: dragging with Shift marks a range of the timeline and says how much time and how many events
// it spans.

import { signal } from '@preact/signals';
import { duration } from '../data/clock.ts';
import type { Scale } from '../data/history.ts';
import { history, scale } from '../state.ts';
import { many } from '../text.ts';
import { geometry } from './picture.ts';
import { toX } from './scene.ts';

/** The measured range, in moments of the scale on which it was marked. */
export const measured = signal<{ on: Scale; from: number; to: number } | null>(null);

/** What a range spans, in words. */
export function spanText(on: Scale, from: number, to: number): string {
  const past = history.value;
  if (!past) return '';
  const [low, high] = from <= to ? [from, to] : [to, from];
  const time = on === 'time' ? high - low : past.timeOf(high) - past.timeOf(low);
  const ranks = on === 'order' ? high - low : past.rankOf(high) - past.rankOf(low);
  return `${duration(time, past.clock)}, ${many(Math.round(ranks), 'event')}`;
}

export function Measure() {
  const range = measured.value;
  const shape = geometry.value;
  if (!range || !shape || range.on !== scale.value) return null;
  const [from, to] = [toX(shape, range.from), toX(shape, range.to)].sort((a, b) => a - b) as [number, number];
  const [left, right] = [Math.max(shape.left, from), Math.min(shape.width, to)];
  if (right <= left) return null;
  return (
    <div class="measure" style={{ left: `${left}px`, width: `${right - left}px`, top: `${shape.top}px` }} role="status">
      <span>{spanText(range.on, range.from, range.to)}</span>
    </div>
  );
}
