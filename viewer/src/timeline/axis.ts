// The axis above the lanes: round numbers at even distances, ranks or times.

import type { Picture } from './draw.ts';
import { letterWidth, type Pen } from './pen.ts';
import { AXIS, toX } from './scene.ts';

export function drawAxis(pen: Pen, { geometry, colors, history }: Picture): void {
  const { from, to, width, left, height, scale } = geometry;
  const [first, last] = history.span(scale);
  const longest = label(history.timeline.origin, scale, Math.max(to, 1)).length * letterWidth() + 24;
  const step = round(((to - from) * longest) / (width - left));
  for (let mark = Math.ceil(Math.max(from, first) / step) * step; mark <= Math.min(to, last); mark += step) {
    const x = Math.round(toX(geometry, mark));
    pen.rect(x, AXIS - 5, 1, 5, { fill: colors.muted });
    pen.rect(x, AXIS, 1, height - AXIS, { fill: colors.border, alpha: 0.35 });
    pen.text(x + 4, AXIS / 2, label(history.timeline.origin, scale, mark), { fill: colors.muted, small: true });
  }
  pen.rect(left, AXIS - 1, width - left, 1, { fill: colors.border });
}

/** The next number of the form 1, 2 or 5 times a power of ten, and at least 1. */
export function round(number: number): number {
  if (number <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(number));
  for (const factor of [1, 2, 5]) if (factor * power >= number) return factor * power;
  return 10 * power;
}

/** A rank is written as it is, a time as it was recorded. */
function label(origin: string, scale: 'order' | 'time', moment: number): string {
  const number = scale === 'order' ? BigInt(Math.round(moment)) : BigInt(origin) + BigInt(Math.round(moment));
  return number.toLocaleString('en');
}
