// The axis above the lanes: round ranks or times at equal distances.

import { type Clock, moment } from '../data/clock.ts';
import type { Picture } from './draw.ts';
import { letterWidth, type Pen } from './pen.ts';
import { AXIS, toX } from './scene.ts';

/** Draws the axis. Labels that would overlap `taken` are omitted. */
export function drawAxis(
  pen: Pen,
  { geometry, colors, history }: Picture,
  taken: { from: number; to: number } | null,
): void {
  const { from, to, width, left, height, scale } = geometry;
  const [first, last] = history.span(scale);
  // Events are counted from 1, other moments from 0.
  const origin = scale === 'time' ? BigInt(history.timeline.origin) : history.hasPoints ? 1n : 0n;
  const clock = scale === 'time' ? history.clock : null;
  const least = round(((to - from) * 4 * letterWidth()) / (width - left));
  const longest = label(origin, Math.max(to, 1), clock, least, to).length * letterWidth() + 20;
  const step = round(((to - from) * longest) / (width - left));
  // Shown numbers include the origin, so marks are shifted to make them round.
  const shift = origin < FAR && clock !== 'ns' ? Number(origin % BigInt(step)) : 0;
  const start = Math.ceil((Math.max(from, first) + shift) / step) * step - shift;
  for (let mark = start; mark <= Math.min(to, last); mark += step) {
    const x = Math.round(toX(geometry, mark));
    pen.rect(x, AXIS - 5, 1, 5, { fill: colors.muted });
    pen.rect(x, AXIS, 1, height - AXIS, { fill: colors.border, alpha: 0.35 });
    if (taken && x + longest - 16 > taken.from && x < taken.to) continue;
    pen.text(x + 4, AXIS / 2, label(origin, mark, clock, step, to), { fill: colors.muted, small: true });
  }
  pen.rect(left, AXIS - 1, width - left, 1, { fill: colors.border });
}

/** Writes what the numbers of the axis are, above the names of the lanes. */
export function drawUnit(pen: Pen, { geometry, colors, history }: Picture): void {
  const far = BigInt(history.timeline.origin) >= FAR;
  const time = history.clock === 'steps' ? 'step' : far && history.clock !== 'ns' ? 'time +' : 'time';
  const unit = geometry.scale === 'order' ? 'event' : time;
  pen.text(geometry.left - 6, AXIS / 2, unit, { fill: colors.muted, small: true, align: 'right' });
}

/** Times beyond this, such as nanoseconds since 1970, are shown relative to the first. */
const FAR = 1_000_000_000_000n;

/** The next number of the form 1, 2 or 5 times a power of ten, and at least 1. */
export function round(number: number): number {
  if (number <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(number));
  for (const factor of [1, 2, 5]) if (factor * power >= number) return factor * power;
  return 10 * power;
}

function label(origin: bigint, mark: number, clock: Clock, step: number, most: number): string {
  if (clock === 'ns' || origin < FAR) return moment(mark, clock, origin, step, most);
  return `+${BigInt(Math.round(mark)).toLocaleString('en')}`;
}
