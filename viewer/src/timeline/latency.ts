// Draws durations over time, on a logarithmic scale: a dot for each operation, or, if they are many, the median, the 99th
// percentile and the maximum of each column. Below is the number of operations in flight. Faults shade both. Actions
// differ in colour and in shape.

import { duration, moment } from '../data/clock.ts';
import type { Event } from '../data/events.ts';
import type { History, Outcome } from '../data/history.ts';
import { COLUMNS, type Dot, type Latency } from '../data/latency.ts';
import { OUTCOMES } from '../data/status.ts';
import { visible } from '../text.ts';
import { round } from './axis.ts';
import type { Colors } from './colors.ts';
import { diamond } from './draw.ts';
import { eventColors } from './faults.ts';
import { cut, letterWidth, type Pen } from './pen.ts';

export interface LatencyPicture {
  history: History;
  latency: Latency;
  colors: Colors;
  kinds: number[];
  /** Failing operations, each with its label. */
  failing: { at: number; label: string }[];
  width: number;
  height: number;
}

export interface Frame {
  left: number;
  right: number;
  /** The rows of outcomes end here and durations begin. */
  top: number;
  /** Durations end here. */
  floor: number;
  /** The top and the floor of the plot of operations in flight; equal if there is none. */
  low: [top: number, floor: number];
  /** The outcomes that have a row. */
  rows: NonNullable<Outcome>[];
  /** The exponents of the durations at the floor and at the top. */
  scale: [number, number];
}

const EVENT = 16;
const ROW = 14;
const AXIS = 18;
const FLIGHT = 56;
const OUTCOME_ROWS: NonNullable<Outcome>[] = ['blocked', 'unfinished', 'failed'];

export function frameOf({
  history,
  latency,
  width,
  height,
}: Omit<LatencyPicture, 'colors' | 'kinds' | 'failing'>): Frame {
  const rows = OUTCOME_ROWS.filter(outcome => latency.odd.some(dot => dot.outcome === outcome));
  const hasFlights = history.timeline.overview.flights.length > 0;
  const floor = height - AXIS - (hasFlights ? FLIGHT : 0);
  const least = Number.isFinite(latency.least) ? Math.max(1, latency.least) : 1;
  const low = Math.floor(Math.log10(least));
  return {
    left: 100,
    right: width - (latency.isFew ? 14 : 66),
    top: (history.events.length > 0 ? EVENT : 0) + rows.length * ROW + 8,
    floor,
    low: hasFlights ? [floor + 8, height - AXIS] : [floor, floor],
    rows,
    scale: [low, Math.max(low + 1, Math.log10(latency.most) + 0.05)],
  };
}

export function xOf({ left, right }: Frame, history: History, time: number): number {
  return left + (time / history.span('time')[1]) * (right - left);
}

export function timeAt({ left, right }: Frame, history: History, x: number): number {
  return ((x - left) / (right - left)) * history.span('time')[1];
}

/** The pixel of a duration; of an operation that did not return, above all. */
export function yOf(frame: Frame, length: number | null): number {
  const { top, floor, scale } = frame;
  if (length === null) return top;
  const part = (Math.log10(Math.max(1, length)) - scale[0]) / (scale[1] - scale[0]);
  return floor - Math.max(0, part) * (floor - top);
}

export function drawLatency(pen: Pen, picture: LatencyPicture): void {
  const { history, latency, colors, width, height } = picture;
  const frame = frameOf(picture);
  pen.rect(0, 0, width, height, { fill: colors.bg });
  if (frame.right <= frame.left) return;
  drawFaults(pen, picture, frame);
  drawScale(pen, picture, frame);
  drawRows(pen, picture, frame);
  pen.within(frame.left, 0, frame.right - frame.left + 6, frame.floor + 3, () => {
    if (latency.isFew) drawDots(pen, picture, frame);
  });
  if (!latency.isFew) drawLines(pen, picture, frame);
  drawInFlight(pen, picture, frame);
  drawTimes(pen, picture, frame);
  for (const { at, label } of picture.failing) drawFailure(pen, picture, frame, at, label);
  pen.rect(frame.left - 1, frame.top - 4, 1, height - AXIS - frame.top + 4, { fill: colors.border });
  const unit = history.clock === 'ns' ? 'time' : history.clock === 'steps' ? 'step' : 'time';
  pen.text(frame.left - 6, height - AXIS / 2, unit, { fill: colors.muted, small: true, align: 'right' });
}

export function kindColors(colors: Colors): string[] {
  return [colors.kind1, colors.kind2, colors.kind3, colors.kind4, colors.kind5, colors.kind6];
}

/** Shades each fault, with its name above. */
function drawFaults(pen: Pen, { history, colors, height }: LatencyPicture, frame: Frame): void {
  const { events } = history;
  const extent = ({ start, end }: Event): [number, number] => {
    const from = xOf(frame, history, start);
    return [from, Math.max(from + 2, xOf(frame, history, end))];
  };
  pen.within(frame.left, 0, frame.right - frame.left, height, () => {
    let taken = frame.left;
    for (const event of events) {
      const [from, to] = extent(event);
      if (to < frame.left || from > frame.right) continue;
      const { solid, soft } = eventColors(colors, event);
      pen.rect(from, 0, to - from, height - AXIS, soft);
      pen.rect(from, 0, 1, height - AXIS, { fill: solid, alpha: 0.6 });
      const x = Math.max(from + 4, taken);
      const label = cut(visible(event.name.slice(0, 60)), frame.right - x - 4);
      // Names of faults that are close together do not overlap: later ones are only in the list of events.
      if (x > Math.max(to, from + 40) || label.length < 3) continue;
      pen.text(x, EVENT / 2, label, { fill: solid, small: true });
      taken = x + (label.length + 1) * letterWidth();
    }
  });
}

/** Lines at round durations. */
function drawScale(pen: Pen, { history, colors }: LatencyPicture, frame: Frame): void {
  const [low, high] = frame.scale;
  const each = Math.ceil(((high - low) * 22) / Math.max(22, frame.floor - frame.top));
  for (let power = low; power <= high; power += each) {
    const y = Math.round(yOf(frame, 10 ** power));
    pen.rect(frame.left, y, frame.right - frame.left, 1, { fill: colors.border, alpha: 0.6 });
    pen.text(frame.left - 6, y, duration(10 ** power, history.clock), {
      fill: colors.muted,
      small: true,
      align: 'right',
    });
  }
}

/** Operations that did not return or failed, in a row for each outcome. */
function drawRows(pen: Pen, { history, latency, colors, kinds }: LatencyPicture, frame: Frame): void {
  for (const [row, outcome] of frame.rows.entries()) {
    const y = (history.events.length > 0 ? EVENT : 0) + row * ROW + ROW / 2;
    const fill = outcome === 'blocked' ? colors.blocked : outcome === 'failed' ? colors.after : colors.waiting;
    pen.text(frame.left - 6, y, OUTCOMES[outcome].word, { fill, small: true, align: 'right' });
    for (const dot of latency.odd) {
      if (dot.outcome !== outcome || !kinds.includes(dot.kind)) continue;
      const x = xOf(frame, history, dot.time);
      if (outcome === 'unfinished') pen.line([x, y - 4, x + 6, y, x, y + 4], { fill });
      else if (outcome === 'blocked') pen.rect(x, y - 4, 3, 8, { fill });
      else pen.line([x - 3, y - 3, x + 3, y + 3], { stroke: fill, width: 1.5 });
    }
  }
}

/** Above this many, all dots are small squares. */
const SHAPED = 4000;

function drawDots(pen: Pen, { history, latency, colors, kinds }: LatencyPicture, frame: Frame): void {
  const fills = kindColors(colors);
  const isDense = latency.dots.length > SHAPED;
  for (const dot of latency.dots) {
    if (dot.duration === null || !kinds.includes(dot.kind)) continue;
    const [x, y] = placeOf(frame, history, dot);
    const fill = fills[dot.kind]!;
    if (isDense) pen.rect(x - 1, y - 1, 2.4, 2.4, { fill, alpha: 0.7 });
    else drawShape(pen, dot.kind, x, y, 3.2, fill);
  }
}

export function placeOf(frame: Frame, history: History, { time, duration: length }: Dot): [number, number] {
  return [xOf(frame, history, time), yOf(frame, length)];
}

export function drawShape(pen: Pen, kind: number, x: number, y: number, half: number, fill: string): void {
  const r = half;
  if (kind === 0) pen.rect(x - r, y - r, 2 * r, 2 * r, { fill, radius: r });
  else if (kind === 1) pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, { fill });
  else if (kind === 2) pen.line([x, y - r * 1.2, x + r * 1.1, y + r * 0.8, x - r * 1.1, y + r * 0.8], { fill });
  else if (kind === 3) diamond(pen, x, y, r * 1.25, { fill });
  else if (kind === 4) {
    pen.line([x - r, y - r, x + r, y + r], { stroke: fill, width: 1.6 });
    pen.line([x - r, y + r, x + r, y - r], { stroke: fill, width: 1.6 });
  } else {
    pen.line([x - r, y, x + r, y], { stroke: fill, width: 1.6 });
    pen.line([x, y - r, x, y + r], { stroke: fill, width: 1.6 });
  }
}

/** Median, 99th percentile and maximum as lines, with their names at the right. */
function drawLines(pen: Pen, { history, latency, colors, kinds }: LatencyPicture, frame: Frame): void {
  const lines: [word: string, stroke: string, dash: number[], points: number[]][] = [
    ['max', colors.blocked, [1, 3], []],
    ['99 %', colors.waiting, [5, 3], []],
    ['median', colors.placed, [], []],
  ];
  for (let column = 0; column < COLUMNS; column += 1) {
    const figures = latency.inColumn(column, kinds);
    if (!figures) continue;
    const x = xOf(frame, history, latency.timeOf(column + 0.5));
    for (const [at, value] of [figures.most, figures.high, figures.median].entries())
      lines[at]![3].push(x, yOf(frame, value));
  }
  let above = frame.top - 12;
  for (const [word, stroke, dash, points] of lines) {
    if (points.length < 4) continue;
    pen.line(points, { stroke, width: word === 'median' ? 2 : 1.4, ...(dash.length > 0 ? { dash } : {}) });
    above = Math.max(above + 12, points[points.length - 1]!);
    pen.text(frame.right + 6, above, word, { fill: stroke, small: true });
  }
}

function drawInFlight(pen: Pen, { history, colors }: LatencyPicture, frame: Frame): void {
  const { flights } = history.timeline.overview;
  const [top, floor] = frame.low;
  if (flights.length === 0) return;
  const most = flights.reduce((most, flight) => Math.max(most, flight), 1);
  const { ranks } = history.timeline;
  for (const [at, flight] of flights.entries()) {
    const [from, to] = [at, at + 1].map(edge =>
      xOf(frame, history, Math.max(0, history.timeOf((edge * ranks) / flights.length))),
    ) as [number, number];
    const tall = (flight / most) * (floor - top);
    pen.rect(from, floor - tall, Math.max(0.6, to - from), tall, { fill: colors.placed, alpha: 0.45 });
  }
  pen.rect(frame.left, floor, frame.right - frame.left, 1, { fill: colors.border });
  pen.text(frame.left - 6, (top + floor) / 2 - 6, 'in flight', { fill: colors.muted, small: true, align: 'right' });
  pen.text(frame.left - 6, (top + floor) / 2 + 7, `≤ ${most.toLocaleString('en')}`, {
    fill: colors.muted,
    small: true,
    align: 'right',
  });
}

function drawTimes(pen: Pen, { history, colors, height }: LatencyPicture, frame: Frame): void {
  const [, last] = history.span('time');
  const label = (time: number, step: number) => {
    const origin = history.clock === 'ns' ? 0n : BigInt(history.timeline.origin);
    return moment(time, history.clock, origin, step, last);
  };
  const longest = label(last, Math.max(1, last / 20)).length * letterWidth() + 24;
  const step = round((last * longest) / (frame.right - frame.left));
  for (let time = 0; time <= last; time += step) {
    const x = Math.round(xOf(frame, history, time));
    pen.rect(x, height - AXIS, 1, 4, { fill: colors.muted });
    const text = label(time, step);
    if (x + text.length * letterWidth() < frame.right + 60)
      pen.text(x + 4, height - AXIS / 2, text, { fill: colors.muted, small: true });
  }
}

function drawFailure(pen: Pen, { history, colors }: LatencyPicture, frame: Frame, at: number, label: string): void {
  const op = history.op(at);
  if (!op) return;
  const x = xOf(frame, history, op.start);
  const y = yOf(frame, op.end === null ? null : op.end - op.start);
  pen.rect(x - 0.75, frame.top - 4, 1.5, frame.floor - frame.top + 4, { fill: colors.blocked, alpha: 0.6 });
  const shown = cut(label, 260);
  const wide = shown.length * letterWidth();
  const left = x + wide + 12 > frame.right ? x - wide - 10 : x + 8;
  pen.rect(left - 2, y - 8, wide + 4, 15, { fill: colors.bg, alpha: 0.85 });
  pen.text(left, y, shown, { fill: colors.blocked, bold: true });
  drawShape(pen, 4, x, y, 4.5, colors.blocked);
}
