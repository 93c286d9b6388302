// Draws the lanes: bands, operations, the order as a line, names, the axis.
//
// What became of an operation is told three ways: colour, border and glyph. A blocked operation has a thick frame and ✗,
// a waiting one a dashed border and …, one after the failure a thin border and ·, one that nobody knows about a dotted
// border and ?. Placed operations have a plain border, and a tick of the line where they take effect. Text comes last,
// so that nothing crosses it.

import type { History, Scale } from '../data/history.ts';
import type { Ending, Report } from '../data/types.ts';
import type { Status } from '../state.ts';
import { drawAxis } from './axis.ts';
import type { Colors } from './colors.ts';
import type { Lanes } from './lanes.ts';
import { drawOrder } from './order.ts';
import { cut, type Look, letterWidth, type Pen } from './pen.ts';
import { AXIS, type Box, compose, type Geometry, type Scene, toX, toY, visibleRows } from './scene.ts';

/** All that a picture shows. */
export interface Picture {
  history: History;
  report: Report;
  lanes: Lanes;
  geometry: Geometry;
  colors: Colors;
  pins: number[];
  selection: number | null;
  step: number | null;
  blocked: number | null;
  endings: Ending[];
  ending: number;
  allEndings: boolean;
  /** One for every operation that the filter lets through; null if there is no filter. */
  matches: Uint8Array | null;
  statusOf(at: number): Status;
}

/** Draws, and says what is visible. */
export function drawLanes(pen: Pen, picture: Picture): Scene {
  const { geometry, colors, history, lanes } = picture;
  const { left, top, width, height } = geometry;
  const scene = compose(history, lanes, geometry);
  pen.rect(0, 0, width, height, { fill: colors.bg });
  pen.within(left, 0, width - left, height, () => {
    drawAxis(pen, picture);
    pen.within(left, top, width - left, height - top, () => {
      drawBands(pen, picture);
      drawRules(pen, picture);
      for (const [from, to] of scene.missing) drawMissing(pen, picture, from, to);
      drawMarks(pen, picture, scene);
      const statuses = scene.boxes.map(box => picture.statusOf(box.at));
      for (const [i, box] of scene.boxes.entries()) drawBox(pen, picture, box, statuses[i]!);
      drawOrder(pen, picture);
      for (const [i, box] of scene.boxes.entries()) drawText(pen, picture, box, statuses[i]!);
    });
    drawLegal(pen, picture);
  });
  drawNames(pen, picture);
  drawScroll(pen, picture);
  return scene;
}

/** An interval of an operation in pixels; null if it is not here yet. */
function extent(picture: Picture, at: number): [number, number] | null {
  const chunk = picture.history.chunkOf(at);
  if (!chunk) return null;
  const { geometry } = picture;
  const i = at - chunk.first;
  const order = geometry.scale === 'order';
  const open = chunk.end[i] === Number.POSITIVE_INFINITY;
  const from = toX(geometry, order ? chunk.from[i]! : chunk.start[i]!);
  return [from, open ? geometry.width + 8 : toX(geometry, order ? chunk.to[i]! : chunk.end[i]!)];
}

function drawBands(pen: Pen, picture: Picture): void {
  const { geometry, colors, blocked, selection } = picture;
  const band = (at: number | null, fill: string, alpha: number) => {
    const ends = at === null ? null : extent(picture, at);
    if (!ends) return;
    const x = Math.max(geometry.left, ends[0]);
    const end = Math.min(geometry.width, ends[1]);
    if (end < geometry.left || x > geometry.width) return;
    pen.rect(x, geometry.top, Math.max(1.5, end - x), geometry.height - geometry.top, { fill, alpha });
  };
  if (selection !== blocked) band(selection, colors.accentSoft, 0.45);
  band(blocked, colors.blockedSoft, 0.55);
}

function drawRules(pen: Pen, { geometry, colors, lanes }: Picture): void {
  const [first, last] = visibleRows(geometry, lanes.shown.length);
  for (let row = first; row < last; row += 1) {
    const y = Math.round(toY(geometry, row + 1)) - 1;
    pen.rect(geometry.left, y, geometry.width - geometry.left, 1, { fill: colors.border, alpha: 0.6 });
  }
}

function drawMissing(pen: Pen, { geometry, colors }: Picture, from: number, to: number): void {
  const { top, height } = geometry;
  pen.rect(from, top, to - from, height - top, { fill: colors.panel });
  if (to - from > 80)
    pen.text((from + to) / 2, (top + height) / 2, 'loading…', { fill: colors.muted, align: 'center' });
}

const GLYPH: Record<Status, string> = { placed: '', blocked: '✗ ', waiting: '… ', after: '· ', unknown: '? ' };

function solid(colors: Colors, status: Status): string {
  return status === 'unknown' ? colors.after : colors[status];
}

function soft(colors: Colors, status: Status): string {
  if (status === 'unknown') return colors.panel;
  return colors[`${status}Soft`];
}

/** Each mark is as tall as its operations are long, and as strong as there are many. */
function drawMarks(pen: Pen, picture: Picture, scene: Scene): void {
  const { geometry, colors, history, matches } = picture;
  if (scene.marks.length === 0) return;
  const [short, long] = durations(history, geometry.scale);
  const most = scene.marks.reduce((most, mark) => Math.max(most, mark.count), 1);
  const inner = geometry.lane - 9;
  for (const mark of scene.marks) {
    const status = picture.statusOf(mark.at);
    const part = (Math.log(Math.max(mark.mean, 1e-9)) - short) / (long - short);
    const tall = Math.round(inner * (0.28 + 0.72 * Math.min(1, Math.max(0, part))));
    const dim = matches && !matches[mark.at] ? 0.25 : 1;
    pen.rect(mark.x, toY(geometry, mark.row) + 4 + inner - tall, mark.width, tall, {
      fill: solid(colors, status),
      alpha: dim * (0.45 + 0.5 * (Math.log(mark.count + 1) / Math.log(most + 1)) ** 2),
    });
  }
}

const usual = new WeakMap<History, Partial<Record<Scale, [number, number]>>>();

/** How long short and long operations take, as logarithms: the second and the ninety-eighth of a hundred. */
function durations(history: History, scale: Scale): [number, number] {
  const known = usual.get(history) ?? {};
  usual.set(history, known);
  const found = known[scale];
  if (found) return found;
  const some: number[] = [];
  for (let k = 0; k < history.timeline.chunks.length && some.length < 20_000; k += 1) {
    const chunk = history.peek(k);
    if (!chunk) continue;
    for (let i = 0; i < chunk.count; i += 7) {
      if (chunk.end[i] === Number.POSITIVE_INFINITY) continue;
      some.push(scale === 'order' ? chunk.to[i]! - chunk.from[i]! : chunk.end[i]! - chunk.start[i]!);
    }
  }
  some.sort((a, b) => a - b);
  const at = (part: number) => Math.log(Math.max(0.5, some[Math.floor(some.length * part)] ?? 1));
  const ends: [number, number] = [at(0.02), Math.max(at(0.98), at(0.02) + 0.1)];
  known[scale] = ends;
  return ends;
}

function drawBox(pen: Pen, picture: Picture, box: Box, status: Status): void {
  const { geometry, colors, selection, matches } = picture;
  const y = toY(geometry, box.row) + 4.5;
  const height = geometry.lane - 10;
  const alpha = matches && !matches[box.at] && status !== 'blocked' ? 0.28 : 1;
  const x = Math.max(box.x, geometry.left - 8);
  const width = Math.min(box.x + box.width, geometry.width + 8) - x;
  const chosen = box.at === selection;
  if (width < 5 && status !== 'blocked' && !chosen) {
    const strength = 0.5 + 0.1 * Math.min(4, width);
    pen.rect(x, y, Math.max(1, width - 0.4), height, { fill: solid(colors, status), alpha: alpha * strength });
    return;
  }
  const look: Look = { fill: soft(colors, status), stroke: solid(colors, status), width: 1, radius: 3, alpha };
  if (status === 'blocked') Object.assign(look, { stroke: colors.blocked, width: 2.5 });
  if (status === 'waiting') look.dash = [4, 3];
  if (status === 'unknown') look.dash = [1, 2];
  pen.rect(x, y, Math.max(3, width), height, look);
  if (status === 'blocked')
    pen.rect(x - 2, y - 2, Math.max(3, width) + 4, height + 4, { stroke: colors.text, width: 1.5, radius: 5 });
  if (chosen) {
    const far = status === 'blocked' ? 4.5 : 2.5;
    pen.rect(x - far, y - far, Math.max(3, width) + 2 * far, height + 2 * far, {
      stroke: colors.accent,
      width: 2,
      radius: 3 + far,
    });
  }
}

function drawText(pen: Pen, picture: Picture, box: Box, status: Status): void {
  const { geometry, colors, history, matches } = picture;
  const x = Math.max(box.x, geometry.left) + 6;
  const room = Math.min(box.x + box.width, geometry.width + 40) - x - 4;
  if (room < letterWidth() && status !== 'blocked') return;
  const glyph = GLYPH[status];
  const text = history.text(box.at) ?? '';
  const alpha = matches && !matches[box.at] && status !== 'blocked' ? 0.4 : 1;
  const fill = status === 'after' || status === 'unknown' ? colors.muted : colors.text;
  const shown = cut(glyph + text, room) || glyph.trim().slice(0, Math.max(0, Math.floor(room / letterWidth())));
  const y = toY(geometry, box.row) + geometry.lane / 2 - 0.5;
  if (shown)
    pen.text(x, y, shown, { fill: status === 'blocked' ? colors.blocked : fill, bold: status === 'blocked', alpha });
}

/** Where the blocked operation would have been allowed. */
function drawLegal(pen: Pen, picture: Picture): void {
  const { report, geometry, colors, history } = picture;
  const { verdict } = report;
  if (verdict.kind !== 'rejected') return;
  const { legal } = verdict;
  if (legal.kind !== 'earlier' && legal.kind !== 'later') return;
  const at = history.timeline.mentioned[legal.kind === 'earlier' ? legal.until : legal.after];
  const ends = at === undefined ? null : extent(picture, at);
  if (!ends) return;
  const later = legal.kind === 'later';
  const x = Math.round(later ? ends[0] : Math.min(ends[1], geometry.width)) + 0.5;
  if (x < geometry.left || x > geometry.width) return;
  pen.line([x, AXIS - 4, x, geometry.height], { stroke: colors.accent, width: 1.5, dash: [2, 4] });
  const text = later ? 'allowed from here ›' : '‹ allowed until here';
  const wide = text.length * letterWidth() + 8;
  const flip = later ? x + wide > geometry.width : x - wide < geometry.left;
  const right = later !== flip;
  pen.rect(right ? x : x - wide, 2, wide, AXIS - 6, { fill: colors.bg, alpha: 0.9 });
  pen.text(right ? x + 4 : x - 4, AXIS / 2, text, { fill: colors.accent, align: right ? 'left' : 'right' });
}

function drawNames(pen: Pen, { geometry, colors, history, lanes, pins }: Picture): void {
  const { left, top, height } = geometry;
  pen.rect(left - 0.5, 0, 1, height, { fill: colors.border });
  const [first, last] = visibleRows(geometry, lanes.shown.length + 1);
  pen.within(0, top, left, height - top, () => {
    for (let row = first; row < last; row += 1) {
      const y = toY(geometry, row) + geometry.lane / 2;
      const process = lanes.shown[row];
      if (process === undefined) continue;
      const name = cut(history.timeline.processes[process]!, left - 22);
      if (pins.includes(process)) pen.rect(7, y - 3, 6, 6, { fill: colors.accent, radius: 3 });
      pen.text(18, y, name, { fill: colors.muted, bold: pins.includes(process) });
    }
  });
}

/** A thin bar at the right edge, if lanes go on below. */
function drawScroll(pen: Pen, { geometry, colors }: Picture): void {
  const room = geometry.height - geometry.top;
  if (geometry.content <= room) return;
  const tall = Math.max(24, (room * room) / geometry.content);
  const y = geometry.top + (geometry.scroll / (geometry.content - room)) * (room - tall);
  pen.rect(geometry.width - 6, y, 4, tall, { fill: colors.muted, radius: 2, alpha: 0.5 });
}
