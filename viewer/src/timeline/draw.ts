// Draws the lanes: bands, operations, the order as a line, messages, names, the axis.
//
// An operation with a duration is a box. A point in time, such as an event of a log, is a diamond with its text beside
// it.
//
// Colour, border and glyph all show the status of an operation. Blocked: thick frame, ✗. Waiting: dashed border, ….
// After the failure: thin border, ·. Not counted: no fill, ○. Unknown: dotted border, ?. Placed: plain border, and a
// tick of the line where it takes effect. Text is drawn last, so that nothing crosses it.
//
// An unfinished operation fades out at its open end, one that waits for ever is hatched there, and one that failed has a
// filled corner.
//
// An operation that missed others has a hollow dot. While it is selected, the operations that it missed are faded and
// dashed, those that it saw have a thin outline, and later ones are dimmed.

import { type History, type Sight, sidesOf } from '../data/history.ts';
import { cutMiddle, nameWithin, shortName } from '../data/short.ts';
import { OUTCOMES } from '../data/status.ts';
import type { Ending, Report } from '../data/types.ts';
import { stuckIn } from '../data/verdict.ts';
import type { Status } from '../state.ts';
import { visible } from '../text.ts';
import { drawAxis, drawUnit } from './axis.ts';
import type { Colors } from './colors.ts';
import { drawEvents, drawShades } from './faults.ts';
import { drawFlights, isCrowded } from './flight.ts';
import { type Lanes, laneLabel } from './lanes.ts';
import { drawChain, drawMessages } from './messages.ts';
import { drawOrder, drawUnlogged } from './order.ts';
import { cut, letterWidth, type Pen, type Style } from './pen.ts';
import { AXIS, type Box, compose, type Geometry, halfOf, type Scene, TALL, toX, toY, visibleRows } from './scene.ts';

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
  /** What the blocked operation does, such as `breaks AtMostOne`; empty if it is merely blocked. */
  note: string;
  failing: number[];
  /** Operations that contradict each other, if that is the failure. */
  contradicting: number[];
  endings: Ending[];
  ending: number;
  allEndings: boolean;
  /** 1 for every operation that matches the filter; null if there is no filter. */
  matches: Uint8Array | null;
  statusOf(at: number): Status;
}

/** Most marks whose status is looked up if operations are too many to be drawn. */
const SAMPLED = 500;

/** Draws the lanes, and returns what is visible. */
export function drawLanes(pen: Pen, picture: Picture): Scene {
  const { geometry, colors, history, lanes } = picture;
  const { left, top, width, height } = geometry;
  const scene = compose(history, lanes, geometry);
  pen.rect(0, 0, width, height, { fill: colors.bg });
  scene.isCrowded = scene.isVast || (isCrowded(scene) && !picture.matches);
  if (scene.isCrowded) {
    pen.within(left, 0, width - left, height, () => drawAxis(pen, picture, null));
    drawFlights(pen, picture, scene);
    drawEvents(pen, picture);
    // The statuses of some marks are enough for the legend; those of all would take as long as the drawing.
    const stride = Math.ceil(scene.marks.length / SAMPLED);
    for (let i = 0; i < scene.marks.length; i += stride) scene.statuses.add(picture.statusOf(scene.marks[i]!.at));
    for (const [from, to] of scene.missing) drawMissing(pen, picture, from, to);
    drawUnit(pen, picture);
    pen.rect(left - 0.5, 0, 1, height, { fill: colors.border });
    return scene;
  }
  pen.within(left, 0, width - left, height, () => {
    const legal = legalOf(picture);
    drawAxis(pen, picture, legal);
    if (legal) {
      pen.line([legal.x, 3, legal.x, top], { stroke: colors.accent, width: 1.5, dash: [2, 4] });
      pen.text(legal.from + 4, AXIS / 2, legal.text, { fill: colors.accent });
    }
    pen.within(left, top, width - left, height - top, () => {
      drawShades(pen, picture);
      drawBands(pen, picture);
      drawRules(pen, picture);
      if (legal) pen.line([legal.x, top, legal.x, height], { stroke: colors.accent, width: 1.5, dash: [2, 4] });
      for (const [from, to] of scene.missing) drawMissing(pen, picture, from, to);
      const heights = heightsOf(scene, picture);
      drawMarks(pen, picture, scene, heights);
      const statuses = scene.boxes.map(box => picture.statusOf(box.at));
      for (const status of statuses) scene.statuses.add(status);
      for (const [i, box] of scene.boxes.entries()) drawBox(pen, picture, box, statuses[i]!, heights);
      drawSmall(pen, picture, scene);
      const drawn = drawOrder(pen, picture);
      drawMessages(pen, picture);
      drawChain(pen, picture);
      for (const [i, box] of scene.boxes.entries()) drawPoint(pen, picture, box, statuses[i]!);
      const taken: Taken[] = [];
      // Labels of failing operations come first: others make room.
      const isFailing = (i: number) => statuses[i] === 'blocked';
      for (const i of [...statuses.keys()].sort((a, b) => Number(isFailing(b)) - Number(isFailing(a)))) {
        drawText(pen, picture, scene.boxes[i]!, statuses[i]!, scene, taken);
        drawPointText(pen, picture, scene.boxes[i]!, statuses[i]!);
      }
      drawDots(pen, picture, scene);
      scene.hidden = drawUnlogged(pen, picture, drawn);
    });
  });
  drawEvents(pen, picture);
  drawUnit(pen, picture);
  drawNames(pen, picture);
  drawScroll(pen, picture);
  return scene;
}

/** The interval of an operation in pixels; null if not loaded yet. */
function extent(picture: Picture, at: number): [number, number] | null {
  const chunk = picture.history.chunkOf(at);
  if (!chunk) return null;
  const { geometry } = picture;
  const i = at - chunk.first;
  const [from, to] = sidesOf(chunk, geometry.scale).map(side => toX(geometry, side[i]!)) as [number, number];
  return [from, chunk.end[i] === Number.POSITIVE_INFINITY ? geometry.width + 8 : to];
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
  for (const at of [blocked, ...picture.failing]) band(at, colors.blockedSoft, 0.55);
}

function drawRules(pen: Pen, { geometry, colors, lanes }: Picture): void {
  const [first, last] = visibleRows(geometry, lanes.shown.length);
  for (let row = first; row < last; row += 1) {
    const y = Math.round(toY(geometry, row + 1)) - 1;
    const [node, next] = [row, row + 1].map(row => lanes.nodes?.[lanes.shown[row] ?? -1]);
    const style = node === next ? { fill: colors.border, alpha: 0.6 } : { fill: colors.muted };
    pen.rect(geometry.left, y, geometry.width - geometry.left, 1, style);
  }
}

function drawMissing(pen: Pen, { geometry, colors }: Picture, from: number, to: number): void {
  const { top, height } = geometry;
  pen.rect(from, top, to - from, height - top, { fill: colors.panel });
  if (to - from > 80)
    pen.text((from + to) / 2, (top + height) / 2, 'loading…', { fill: colors.muted, align: 'center' });
}

/** Minimum number of letters of a useful label. */
const LEGIBLE = 6;

const GLYPH: Record<Status, string> = {
  placed: '',
  blocked: '✗ ',
  waiting: '… ',
  after: '· ',
  uncounted: '○ ',
  unknown: '? ',
};

function solid(colors: Colors, status: Status): string {
  return status === 'unknown' || status === 'uncounted' ? colors.after : colors[status];
}

function soft(colors: Colors, status: Status): string {
  if (status === 'unknown') return colors.panel;
  if (status === 'uncounted') return colors.bg;
  return colors[`${status}Soft`];
}

/** Boxes narrower than this are drawn as bars, if most are. */
const BAR = 14;
/** Most boxes are too narrow if each has less than this on average, in pixels. */
const CROWDED = 24;

/** Heights of bars: longer operations are taller. Bars that stand for many operations have similar means, so heights
 * are relative to the distribution in the picture. */
interface Heights {
  middle: number;
  spread: number;
  /** Boxes narrower than this are bars. */
  bar: number;
}

function heightsOf(scene: Scene, { geometry, lanes }: Picture): Heights {
  const [first, last] = visibleRows(geometry, lanes.shown.length);
  const room = ((last - first) * (geometry.width - geometry.left)) / (scene.boxes.length + scene.marks.length);
  let [count, sum, squares] = [0, 0, 0];
  const add = (length: number) => {
    const value = Math.log(Math.max(length, 0.25));
    count += 1;
    sum += value;
    squares += value * value;
  };
  for (const mark of scene.marks) add(mark.mean);
  for (const box of scene.boxes) if (!box.open && box.width < BAR) add(box.length);
  const middle = sum / Math.max(1, count);
  const spread = Math.sqrt(Math.max(0, squares / Math.max(1, count) - middle * middle));
  return { middle, spread: Math.max(0.08, 2.2 * spread), bar: room < CROWDED ? BAR : 0 };
}

function heightOf(length: number, { middle, spread }: Heights, most: number): number {
  const part = 0.5 + (Math.log(Math.max(length, 0.25)) - middle) / (2 * spread);
  return Math.round(most * (0.22 + 0.78 * Math.min(1, Math.max(0, part))));
}

/** One operation is a bar. Many are an area under a line: its height shows their duration, its opacity their number. */
function drawMarks(pen: Pen, picture: Picture, scene: Scene, heights: Heights): void {
  const { geometry, colors, matches } = picture;
  const most = scene.marks.reduce((most, mark) => Math.max(most, mark.count), 1);
  const inner = geometry.lane - 9;
  for (const mark of scene.marks) {
    const status = picture.statusOf(mark.at);
    scene.statuses.add(status);
    const fill = solid(colors, status);
    const tall = heightOf(mark.mean, heights, inner);
    const y = toY(geometry, mark.row) + 4 + inner - tall;
    const dim = matches && !matches[mark.at] ? 0.3 : 1;
    if (mark.count === 1) {
      pen.rect(mark.x, y, Math.min(mark.width, 1.2), tall, { fill, alpha: 0.8 * dim });
      continue;
    }
    pen.rect(mark.x, y + 2, mark.width, tall - 2, { fill, alpha: dim * (0.18 + 0.3 * (mark.count / most)) });
    pen.rect(mark.x, y, mark.width, 2, { fill, alpha: dim * 0.9 });
  }
}

const CLEAR: Record<Sight, number> = { missed: 0.35, seen: 1, later: 0.65 };

/** What the selected operation saw of another; null if it saw everything before it. */
function sightOf({ history, selection }: Picture, at: number): Sight | null {
  return selection === null ? null : history.sight(selection, at);
}

/** The opacity of an operation: `least` if it does not match the filter, and less if the selected one did not see it. */
function alphaOf(picture: Picture, at: number, status: Status, least: number): number {
  const { matches } = picture;
  const sight = sightOf(picture, at);
  return (matches && !matches[at] && status !== 'blocked' ? least : 1) * (sight ? CLEAR[sight] : 1);
}

/** The frame of an operation by its status; without a border if the selected operation missed it. */
function styleOf(picture: Picture, { at }: Box, status: Status, width: number): Style {
  const { colors } = picture;
  const style: Style = { fill: soft(colors, status), width, alpha: alphaOf(picture, at, status, 0.28) };
  if (sightOf(picture, at) !== 'missed') style.stroke = solid(colors, status);
  if (status === 'waiting') style.dash = [4, 3];
  if (status === 'unknown') style.dash = [1, 2];
  return style;
}

/** The top and the height of the boxes of a row. */
function across({ geometry }: Picture, row: number): { y: number; height: number } {
  const tight = geometry.lane < 30;
  return { y: toY(geometry, row) + (tight ? 2.5 : 4.5), height: geometry.lane - (tight ? 6 : 10) };
}

function drawBox(pen: Pen, picture: Picture, box: Box, status: Status, heights: Heights): void {
  if (box.point) return;
  const { geometry, colors, selection } = picture;
  const { y, height } = across(picture, box.row);
  const alpha = alphaOf(picture, box.at, status, 0.28);
  const x = Math.max(box.x, geometry.left - 8);
  const width = Math.min(box.x + box.width, geometry.width + 8) - x;
  const chosen = box.at === selection;
  if (width < heights.bar && status !== 'blocked' && !chosen && !box.open) {
    const tall = heightOf(box.length, heights, height);
    const style = { fill: solid(colors, status), alpha: alpha * 0.72 };
    pen.rect(x, y + height - tall, Math.max(1, width - 0.6), tall, style);
    return;
  }
  if (width < 3 && status !== 'blocked' && !chosen) {
    pen.rect(x, y, Math.max(1, width), height, { fill: solid(colors, status), alpha });
    return;
  }
  const style = styleOf(picture, box, status, 1);
  style.radius = 3;
  if (status === 'blocked') {
    if (style.stroke) style.stroke = colors.text;
    style.width = width < BAR ? 1.5 : 2.5;
    if (width < BAR) style.fill = colors.blocked;
  }
  const sight = sightOf(picture, box.at);
  const outcome = picture.history.outcomeOf(box.at);
  if (box.open && outcome !== 'blocked') drawOpenBox(pen, x, y, Math.max(FADE, width), height, style);
  else pen.rect(x, y, Math.max(3, width), height, style);
  if (outcome === 'blocked') drawHatch(pen, Math.max(x, x + width - FADE - 8), y, Math.min(width, FADE), height, style);
  if (outcome === 'failed') drawStruck(pen, x, y, Math.max(3, width), height, style);
  if (sight === 'missed') {
    pen.rect(x, y, Math.max(3, width), height, { stroke: colors.muted, width: 1.3, dash: MISSED, radius: 3 });
  }
  if (sight === 'seen') {
    pen.rect(x - 2, y - 2, Math.max(3, width) + 4, height + 4, { stroke: colors.accent, width: 1, radius: 5 });
  }
  if (chosen) {
    const far = status === 'blocked' ? 3.5 : 2.5;
    const frame = { stroke: colors.accent, width: 2, radius: 3 + far };
    pen.rect(x - far, y - far, Math.max(3, width) + 2 * far, height + 2 * far, frame);
  }
}

/** Width of the fading end of an unfinished operation, in pixels. */
const FADE = 28;
/** The number of steps in which it fades. */
const STRIPES = 7;

/** Draws an operation without an end: its right side fades out instead of having a border. */
function drawOpenBox(pen: Pen, x: number, y: number, width: number, height: number, style: Style): void {
  const { fill = '', stroke, alpha = 1, dash, width: thick = 1 } = style;
  const solid = width - FADE;
  if (solid > 0) pen.rect(x, y, solid, height, { fill, alpha });
  const stripe = FADE / STRIPES;
  for (let i = 0; i < STRIPES; i += 1) {
    const clear = alpha * (1 - (i + 1) / (STRIPES + 1));
    const from = x + solid + i * stripe;
    pen.rect(from, y, stripe, height, { fill, alpha: clear });
    if (!stroke) continue;
    for (const edge of [y, y + height])
      pen.line([from, edge, from + stripe * 0.6, edge], { stroke, width: thick, alpha: clear });
  }
  if (!stroke) return;
  const edges = [x + Math.max(0, solid), y, x, y, x, y + height, x + Math.max(0, solid), y + height];
  pen.line(edges, { stroke, width: thick, alpha, ...(dash ? { dash } : {}) });
}

/** Marks the end of an operation that waits for ever with slanted lines. */
function drawHatch(pen: Pen, x: number, y: number, width: number, height: number, { stroke, alpha = 1 }: Style): void {
  if (!stroke) return;
  pen.within(x, y, width, height, () => {
    for (let from = x - height; from < x + width; from += 6)
      pen.line([from, y + height, from + height, y], { stroke, width: 1, alpha: alpha * 0.8 });
  });
}

/** Marks an operation that failed: its right upper corner is cut off. */
function drawStruck(pen: Pen, x: number, y: number, width: number, height: number, { stroke, alpha = 1 }: Style): void {
  if (!stroke) return;
  const size = Math.min(width, height) * 0.6;
  const corner = [x + width - size, y, x + width, y, x + width, y + size];
  pen.line(corner, { fill: stroke, stroke, width: 1, alpha });
}

function drawPoint(pen: Pen, picture: Picture, box: Box, status: Status): void {
  if (!box.point) return;
  const { geometry, colors, selection } = picture;
  const half = Math.min(halfOf(geometry), box.point.room / 2);
  const y = toY(geometry, box.row) + geometry.lane / 2 - 0.5;
  const style = styleOf(picture, box, status, 1.4);
  if (status === 'blocked') Object.assign(style, { fill: colors.blocked, width: 3 });
  const sight = sightOf(picture, box.at);
  diamond(pen, box.x, y, half, style);
  if (sight === 'missed') diamond(pen, box.x, y, half, { stroke: colors.muted, width: 1.3, dash: MISSED });
  if (sight === 'seen') diamond(pen, box.x, y, half + 3, { stroke: colors.accent, width: 1 });
  if (box.at === selection) diamond(pen, box.x, y, half + 5, { stroke: colors.accent, width: 2 });
}

/** Dashes around an operation that the selected one missed. */
const MISSED = [3, 3];

/** Half the width of a dot, in pixels. */
const DOT = 3;

/** Draws a hollow dot at the upper right of each operation that missed others. */
function drawDots(pen: Pen, picture: Picture, { boxes }: Scene): void {
  const { geometry, colors, history } = picture;
  if (!history.hasMissed) return;
  for (const box of boxes) {
    if (history.missed(box.at).size === 0) continue;
    const half = box.point ? halfOf(geometry) : 0;
    const end = Math.min(box.x + box.width, geometry.width);
    const x = box.point ? box.x + half : Math.max(end - DOT - 2, (box.x + end) / 2);
    const y = box.point ? toY(geometry, box.row) + geometry.lane / 2 - half : across(picture, box.row).y;
    const style: Style = { fill: colors.bg, stroke: colors.text, width: 1.4, radius: DOT };
    pen.rect(x - DOT, y - DOT + 1, 2 * DOT, 2 * DOT, style);
  }
}

export function diamond(pen: Pen, x: number, y: number, half: number, style: Style): void {
  pen.line([x, y - half, x + half, y, x, y + half, x - half, y, x, y - half], style);
}

/** Draws the selected and failing operations even if they are too narrow for a box. */
function drawSmall(pen: Pen, picture: Picture, scene: Scene): void {
  const { geometry, colors, blocked, failing, selection, history, lanes } = picture;
  for (const at of new Set([selection, blocked, ...failing])) {
    const ends = at === null || scene.boxes.some(box => box.at === at) ? null : extent(picture, at);
    const chunk = at === null ? null : history.chunkOf(at);
    if (!ends || !chunk || at === null || ends[1] < geometry.left || ends[0] > geometry.width) continue;
    const row = lanes.rows[chunk.process[at - chunk.first]!]!;
    if (row < 0) continue;
    const y = toY(geometry, row);
    const isFailing = at === blocked || failing.includes(at);
    const fill = isFailing ? colors.blocked : colors.accent;
    pen.rect(ends[0] - 2.5, y + 2, 5, geometry.lane - 5, { fill: colors.bg });
    pen.rect(ends[0] - 1.5, y + 3, 3, geometry.lane - 7, { fill });
    if (isFailing) pen.text(ends[0] - 5, y + geometry.lane / 2, '✗', { fill, bold: true, align: 'right' });
  }
}

/** Where a label beside a frame is, in pixels. */
interface Taken {
  row: number;
  from: number;
  to: number;
}

/** Draws the label of a box: inside it, or beside it where the row is free. That of the failing operation is always
 * drawn, over others if it has to be. */
function drawText(pen: Pen, picture: Picture, box: Box, status: Status, scene: Scene, taken: Taken[]): void {
  const { geometry, history } = picture;
  const op = box.point ? null : history.op(box.at);
  const isFailing = status === 'blocked';
  if (!op || (box.width < BAR && !isFailing && scene.boxes.length > FEW)) return;
  const x = Math.max(box.x, geometry.left) + 6;
  const end = Math.min(box.x + box.width, geometry.width);
  const glyph = GLYPH[status];
  const wide = (text: string) => text.length * letterWidth();
  const outcome = history.outcomeOf(box.at);
  // The mark at the end of one that waits for ever stays visible.
  const own = end - x - 4 - (outcome === 'blocked' ? FADE : 0);
  const full = shortName(op) + (isFailing && picture.note ? ` ${visible(picture.note)}` : '');
  const within = (pixels: number) => {
    const letters = Math.floor(pixels / letterWidth()) - glyph.length;
    return full.length <= letters ? full : nameWithin(op, letters);
  };
  const word = outcome ? OUTCOMES[outcome].word : '';
  const room = wide(`${word}  `) + (outcome === 'failed' ? FADE : 0);
  const hasWord = word !== '' && own > wide(`${glyph}${full}  `) + room;
  if (hasWord) drawLabel(pen, picture, box, status, word, x + own + 4 - room, 0);
  const others = taken.filter(({ row }) => row === box.row);
  const isCovered = others.some(other => other.from < end && other.to > box.x);
  const shown = isCovered ? '' : within(hasWord ? own - room : own);
  const inside = shown ? glyph + shown : own >= letterWidth() && !isCovered ? glyph.trim() : '';
  if (shown === full || (!isFailing && shown.length >= LEGIBLE)) {
    drawLabel(pen, picture, box, status, inside, x, 0);
    return;
  }
  const [begin, next] = roomAround(scene, box, geometry.left, geometry.width);
  const free = Math.max(begin, ...others.filter(({ from }) => from < box.x).map(({ to }) => to + BESIDE));
  const limit = Math.min(next, ...others.filter(({ to }) => to > end).map(({ from }) => from - BESIDE));
  const after = within(limit - (end + BESIDE) - 6);
  const before = isFailing ? within(box.x - BESIDE - free) : '';
  let best = after.length >= before.length ? after : before;
  const isInside = shown.length >= LEGIBLE && best.length <= shown.length;
  if (box.at === picture.blocked && !isInside && best.length < LEGIBLE) best = nameWithin(op, LEAST) || best;
  const alone = own >= letterWidth() ? glyph.trim() : '';
  drawLabel(pen, picture, box, status, isInside || best.length < 2 ? inside : alone, x, 0);
  if (isInside || best.length < 2 || (!isFailing && best.length <= shown.length)) return;
  const label = own >= letterWidth() || !isFailing ? best : glyph + best;
  const isAfter = best === after || (best !== before && end + BESIDE + wide(label) < geometry.width);
  const from = isAfter ? end + BESIDE : Math.max(geometry.left, box.x - BESIDE - wide(label));
  drawLabel(pen, picture, box, status, label, from, 0, true);
  taken.push({ row: box.row, from, to: from + wide(label) });
}

/** Of more boxes, narrow ones have no label beside them. */
const FEW = 120;
/** The letters of the label of a failing operation for which there is no room. */
const LEAST = 24;

/** Distance of a label from the frame beside it, in pixels. */
const BESIDE = 9;

/** Draws the label of a point: beside it if it fits there; else above or below, where the next one does not need the
 * room; else cut. */
function drawPointText(pen: Pen, picture: Picture, box: Box, status: Status): void {
  if (!box.point) return;
  const { geometry, history } = picture;
  const { room, wide, isOdd } = box.point;
  const half = halfOf(geometry);
  const op = history.op(box.at);
  const text = GLYPH[status] + (op ? shortName(op) : '');
  const beside = room - 2 * half - 4;
  const width = text.length * letterWidth();
  if (status === 'blocked') {
    const isRight = box.x + half + 6 + width <= geometry.width;
    drawLabel(pen, picture, box, status, text, isRight ? box.x + half + 6 : box.x - half - 6 - width, 0, true);
  } else if (width <= beside || geometry.lane < TALL) {
    const fits = beside >= Math.min(LEGIBLE, text.length) * letterWidth();
    drawLabel(pen, picture, box, status, fits ? cut(text, beside) : '', box.x + half + 4, 0);
  } else {
    const letters = Math.floor((wide - 6) / letterWidth()) - GLYPH[status].length;
    const shown = op ? nameWithin(op, letters) : '';
    drawLabel(pen, picture, box, status, shown && GLYPH[status] + shown, box.x - half, (isOdd ? 1 : -1) * (half + 11));
  }
}

function drawLabel(
  pen: Pen,
  picture: Picture,
  box: Box,
  status: Status,
  text: string,
  x: number,
  down: number,
  isBeside = false,
): void {
  if (!text) return;
  const { geometry, colors } = picture;
  const alpha = alphaOf(picture, box.at, status, 0.4);
  const fill = status === 'after' || status === 'uncounted' || status === 'unknown' ? colors.muted : colors.text;
  const y = toY(geometry, box.row) + geometry.lane / 2 - 0.5 + down;
  // A background keeps the label legible where the line passes behind it.
  const behind = box.point || isBeside ? colors.bg : soft(colors, status);
  pen.rect(x - 1, y - 6, text.length * letterWidth() + 2, 13, { fill: behind, alpha: 0.9 * alpha });
  pen.text(x, y, text, { fill: status === 'blocked' ? colors.blocked : fill, bold: status === 'blocked', alpha });
}

/** Where the row is free before and after an operation, in pixels. */
function roomAround(scene: Scene, { row, x }: Box, from: number, to: number): [number, number] {
  let [free, next] = [from, to];
  for (const others of [scene.boxes, scene.marks]) {
    for (const other of others) {
      if (other.row !== row) continue;
      if (other.x < x) free = Math.max(free, other.x + other.width);
      if (other.x > x) next = Math.min(next, other.x);
    }
  }
  return [free, next];
}

/** Where the blocked operation would have been legal: a line, and a label on the axis. */
interface Legal {
  x: number;
  text: string;
  /** The extent of the label in pixels. */
  from: number;
  to: number;
}

function legalOf(picture: Picture): Legal | null {
  const { report, geometry, history } = picture;
  const verdict = stuckIn(report);
  if (!verdict) return null;
  const { legal } = verdict;
  if (legal.kind !== 'earlier' && legal.kind !== 'later') return null;
  const at = history.timeline.mentioned[legal.kind === 'earlier' ? legal.until : legal.after];
  const ends = at === undefined ? null : extent(picture, at);
  if (!ends) return null;
  const later = legal.kind === 'later';
  const x = Math.round(later ? ends[0] : Math.min(ends[1], geometry.width)) + 0.5;
  if (x < geometry.left || x > geometry.width) return null;
  const text = later ? 'legal from here ›' : '‹ legal until here';
  const wide = text.length * letterWidth() + 8;
  const right = later ? x + wide <= geometry.width : x - wide < geometry.left;
  return { x, text, from: right ? x : x - wide, to: right ? x + wide : x };
}

function drawNames(pen: Pen, { geometry, colors, history, lanes, pins }: Picture): void {
  const { left, top, height } = geometry;
  pen.rect(left - 0.5, 0, 1, height, { fill: colors.border });
  const [first, last] = visibleRows(geometry, lanes.shown.length + 1);
  const room = Math.floor((left - 22) / letterWidth());
  pen.within(0, top, left, height - top, () => {
    for (let row = first; row < last; row += 1) {
      const y = toY(geometry, row) + geometry.lane / 2;
      const process = lanes.shown[row];
      if (process === undefined) continue;
      const name = cutMiddle(visible(laneLabel(history, lanes, process)), room);
      if (pins.includes(process)) pen.rect(7, y - 3, 6, 6, { fill: colors.accent, radius: 3 });
      pen.text(18, y, name, { fill: colors.muted, bold: pins.includes(process) });
    }
  });
}

/** A scroll bar at the right edge, if not all lanes fit. */
function drawScroll(pen: Pen, { geometry, colors }: Picture): void {
  const room = geometry.height - geometry.top;
  if (geometry.content <= room) return;
  const tall = Math.max(24, (room * room) / geometry.content);
  const y = geometry.top + (geometry.scroll / (geometry.content - room)) * (room - tall);
  pen.rect(geometry.width - 6, y, 4, tall, { fill: colors.muted, radius: 2, alpha: 0.5 });
}
