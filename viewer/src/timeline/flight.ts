// The timeline where operations are too many to be drawn: how many were in flight.
//
// Boxes of less than a pixel in every lane are noise. Instead, one plot over all lanes shows the maximum in flight as an
// area, from the overview of the page, and the mean as a line: the durations of the operations that begin in a pixel,
// divided by its width.

import { visible } from '../text.ts';
import type { Picture } from './draw.ts';
import { drawShades } from './faults.ts';
import { cut, letterWidth, type Pen } from './pen.ts';
import { type Scene, toMoment, toX } from './scene.ts';

/** Marks that stand for this many operations on average are noise. */
const NOISE = 2;

/** True if most marks stand for several operations, and hardly any has a box of its own. */
export function isCrowded(scene: Scene): boolean {
  const total = scene.marks.reduce((sum, mark) => sum + mark.count, 0);
  return total > NOISE * scene.marks.length && total > 20 * scene.boxes.length;
}

/** Draws the plot, with its scale in the column of the names. */
export function drawFlights(pen: Pen, picture: Picture, scene: Scene): void {
  const { geometry, colors, history } = picture;
  const { left, top, width, height } = geometry;
  const { flights } = history.timeline.overview;
  const floor = height - 18;
  const room = floor - top - 26;
  const means = meansOf(picture, scene);
  const most = Math.max(
    1,
    ...means,
    flights.reduce((most, flight) => Math.max(most, flight), 0),
  );
  const y = (value: number) => floor - (value / most) * room;
  const { ranks } = history.timeline;
  pen.within(left, top, width - left, height - top, () => {
    drawShades(pen, picture);
    for (let i = 0; i < flights.length; i += 1) {
      const [from, to] = [(i * ranks) / flights.length, ((i + 1) * ranks) / flights.length].map(rank =>
        toX(geometry, geometry.scale === 'order' ? rank : history.timeOf(rank)),
      ) as [number, number];
      if (to < left || from > width) continue;
      pen.rect(from, y(flights[i]!), Math.max(0.6, to - from), floor - y(flights[i]!), { fill: colors.placedSoft });
    }
    const line = means.flatMap((mean, x) => [left + x * STEP + STEP / 2, y(mean)]);
    if (line.length >= 4) pen.line(line, { stroke: colors.placed, width: 1.4 });
    pen.rect(left, floor, width - left, 1, { fill: colors.border });
    drawFailures(pen, picture);
    pen.text(left + 8, top + 12, 'operations in flight: most (area) and mean (line); zoom in to see operations', {
      fill: colors.muted,
    });
  });
  for (const value of new Set([0, Math.round(most / 2), most])) {
    pen.text(left - 6, y(value), value.toLocaleString('en'), { fill: colors.muted, small: true, align: 'right' });
  }
}

/** Width of a column of the line, in pixels. */
const STEP = 3;

/** The mean number in flight in each column. */
function meansOf({ geometry, history }: Picture, scene: Scene): number[] {
  const { left, width, from, to } = geometry;
  const perPixel = (to - from) / (width - left);
  const means = new Array<number>(Math.ceil((width - left) / STEP)).fill(0);
  const add = (x: number, length: number) => {
    const column = Math.floor((x - left) / STEP);
    if (column >= 0 && column < means.length) means[column]! += length / (STEP * perPixel);
  };
  for (const { x, count, mean } of scene.marks) add(x, count * mean);
  const [, end] = history.span(geometry.scale);
  for (const box of scene.boxes) {
    // A box covers its columns whole.
    const last = Math.min(box.x + box.width, width, toX(geometry, end));
    for (let x = Math.max(left, box.x); x < last; x += STEP) add(x, STEP * perPixel);
  }
  return means;
}

/** A line and a label for each failing operation. */
function drawFailures(pen: Pen, picture: Picture): void {
  const { geometry, colors, history, blocked, failing } = picture;
  for (const at of [blocked, ...failing]) {
    const op = at === null ? null : history.op(at);
    if (!op) continue;
    const x = toX(geometry, geometry.scale === 'order' ? op.from : op.start);
    pen.rect(x - 1, geometry.top, 2, geometry.height - geometry.top, { fill: colors.blocked });
    const label = cut(`✗ ${visible(op.name)} ${visible(op.text.slice(0, 80))}`, 320);
    const wide = label.length * letterWidth();
    const isLeft = x + wide + 10 > geometry.width;
    const from = isLeft ? x - 6 - wide : x + 6;
    pen.rect(from - 2, geometry.top + 22, wide + 4, 16, { fill: colors.bg, alpha: 0.85 });
    pen.text(from, geometry.top + 30, label, { fill: colors.blocked, bold: true });
  }
}

/** The range of moments that a click at `x` asks for: a tenth of what is visible. */
export function rangeAt({ geometry }: Pick<Picture, 'geometry'>, x: number): [number, number] {
  const middle = toMoment(geometry, x);
  const half = (geometry.to - geometry.from) / 20;
  return [middle - half, middle + half];
}
