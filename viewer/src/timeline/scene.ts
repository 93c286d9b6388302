// The layout of the lanes: the geometry, and which operations are visible.
//
// A picture never needs more marks than it has pixels. In every lane, operations narrower than about a pixel are
// merged: binary search finds the last one that begins in the same pixel, and all of them become one mark. The
// operations of a process are sequential, so only the last of them can extend beyond the pixel. A frame therefore costs
// the same for a thousand operations and for a million.

import { type History, type Loaded, type Scale, SHOWN, search, sidesOf, sumsOf } from '../data/history.ts';
import type { Status } from '../state.ts';
import { type Lanes, laneLabel } from './lanes.ts';
import { letterWidth } from './pen.ts';

export interface Geometry {
  width: number;
  height: number;
  /** The left edge of the lanes, right of their names. */
  left: number;
  /** The top of the first lane when not scrolled. */
  top: number;
  lane: number;
  scroll: number;
  content: number;
  from: number;
  to: number;
  scale: Scale;
}

/** An operation wide enough to be drawn by itself. */
export interface Box {
  at: number;
  row: number;
  x: number;
  width: number;
  /** Its duration on the scale. */
  length: number;
  open: boolean;
  /** Null unless it is a point. */
  point: Point | null;
}

/** An operation without a duration. */
export interface Point {
  /** The pixels to the next operation of the process. */
  room: number;
  /** The pixels to the one after the next. */
  wide: number;
  /** True for every other point of the process: its label is below if it does not fit beside it, else above. */
  isOdd: boolean;
}

/** An unlogged step, drawn between two steps of the order. */
export interface Hidden {
  /** An index into the unlogged steps. */
  at: number;
  x: number;
  y: number;
}

/** Operations too narrow to be drawn one by one. */
export interface Mark {
  /** The first of them. */
  at: number;
  count: number;
  row: number;
  x: number;
  width: number;
  /** Their mean duration on the scale. */
  mean: number;
}

export interface Scene {
  boxes: Box[];
  marks: Mark[];
  /** The last mark of each row. */
  lastMark: Mark[];
  statuses: Set<Status>;
  hidden: Hidden[];
  /** Intervals in pixels where operations are not loaded yet. */
  missing: [number, number][];
  /** True if a plot is drawn instead of operations, because they are too many. */
  isCrowded: boolean;
  /** True if it spans more operations than are kept in memory. */
  isVast: boolean;
}

const MOST = 10_000;
const NARROW = 1.2;
/** Minimum distance of points that are drawn one by one, in pixels. */
const APART = 5;

export const AXIS = 22;
/** Height of a row of faults and annotations. */
export const EVENT = 19;

/** Height of a lane in which labels of points fit above and below. */
export const TALL = 58;

export function measure(
  history: History,
  lanes: Lanes,
  size: { width: number; height: number; scroll: number },
  viewport: { from: number; to: number },
  scale: Scale,
): Geometry {
  const longest = lanes.shown.reduce((most, process) => Math.max(most, laneLabel(history, lanes, process).length), 2);
  const left = Math.ceil(Math.max(74, Math.min(14, longest) * letterWidth() + 28));
  const rows = lanes.shown.length + (lanes.idle > 0 ? 1 : 0);
  const top = AXIS + eventsHeight(history);
  const room = size.height - top;
  const lane = Math.max(24, Math.min(tallest(history), Math.floor(room / Math.max(1, rows))));
  const content = rows * lane;
  const scroll = Math.max(0, Math.min(size.scroll, content - room));
  return { width: size.width, height: size.height, left, top, lane, scroll, content, ...viewport, scale };
}

/** The height of a lane if there is room. Labels of points need some above and below. */
function tallest(history: History): number {
  return history.hasPoints ? TALL : 38;
}

/** The height of the rows of faults and annotations; 0 if there are none. */
function eventsHeight({ events }: History): number {
  return events.length === 0 ? 0 : (Math.max(...events.map(event => event.row)) + 1) * EVENT + 4;
}

/** The height at which all lanes are visible and have all the room they need. */
export function heightFor(history: History, lanes: Lanes): number {
  return AXIS + eventsHeight(history) + (lanes.shown.length + (lanes.idle > 0 ? 1 : 0)) * tallest(history) + 8;
}

export function toX(geometry: Geometry, moment: number): number {
  const { left, width, from, to } = geometry;
  return left + ((moment - from) / (to - from)) * (width - left);
}

export function toMoment(geometry: Geometry, x: number): number {
  const { left, width, from, to } = geometry;
  return from + ((x - left) / (width - left)) * (to - from);
}

export function toY(geometry: Geometry, row: number): number {
  return geometry.top + row * geometry.lane - geometry.scroll;
}

/** The range of visible rows, end excluded. */
export function visibleRows(geometry: Geometry, rows: number): [number, number] {
  const first = Math.max(0, Math.floor(geometry.scroll / geometry.lane));
  const last = Math.ceil((geometry.scroll + geometry.height - geometry.top) / geometry.lane);
  return [first, Math.min(rows, last)];
}

/** The numbers of chunks with operations between two moments, not counting those in `long`. */
export function chunksBetween(history: History, scale: Scale, from: number, to: number): number[] {
  const found: number[] = [];
  for (const [k, chunk] of history.timeline.chunks.entries()) {
    const [first, last] = scale === 'order' ? chunk.ranks : chunk.times;
    if (first <= to && last >= from) found.push(k);
  }
  return found;
}

export function compose(history: History, lanes: Lanes, geometry: Geometry): Scene {
  const scene: Scene = {
    boxes: [],
    marks: [],
    lastMark: [],
    statuses: new Set(),
    hidden: [],
    missing: [],
    isCrowded: false,
    isVast: false,
  };
  const { from, to, scale } = geometry;
  const [firstRow, lastRow] = visibleRows(geometry, lanes.shown.length);
  const plot = geometry.width - geometry.left;
  const grain = Math.max(1, Math.ceil(((lastRow - firstRow) * plot) / MOST));
  const numbers = chunksBetween(history, scale, from, to);
  const seen = new Set(numbers);
  // Of more chunks than are kept, only those that happen to be loaded are used: the plot of the whole needs none.
  const isVast = numbers.length > SHOWN;
  scene.isVast = isVast;
  for (const k of numbers) {
    const chunk = isVast ? history.peek(k) : history.chunk(k);
    if (!chunk && isVast) continue;
    if (!chunk) {
      const [first, last] = scale === 'order' ? history.timeline.chunks[k]!.ranks : history.timeline.chunks[k]!.times;
      scene.missing.push([toX(geometry, Math.max(first, from)), toX(geometry, Math.min(last, to))]);
      continue;
    }
    for (let row = firstRow; row < lastRow; row += 1) gather(chunk, lanes.shown[row]!, row, geometry, grain, scene);
  }
  for (const at of longBetween(history, seen)) {
    const chunk = history.chunkOf(at);
    if (!chunk) continue;
    const i = at - chunk.first;
    const row = lanes.rows[chunk.process[i]!]!;
    const [begin, end] = interval(chunk, i, scale, history);
    if (row >= firstRow && row < lastRow && begin <= to && end >= from)
      scene.boxes.push(box(at, row, chunk, i, geometry));
  }
  return scene;
}

/** Long operations of earlier chunks, of at most `SHOWN / 2` of them. From a server, at most the 8 nearest missing chunks
 * are loaded for them. */
function longBetween(history: History, seen: Set<number>): number[] {
  const { long, chunks } = history.timeline;
  const size = Math.max(1, chunks[0]?.count ?? 1);
  const first = Math.min(...seen, chunks.length);
  const before = long.filter(at => !seen.has(Math.floor(at / size)) && Math.floor(at / size) < first);
  const nearest = new Set([...new Set(before.map(at => Math.floor(at / size)))].slice(-SHOWN / 2));
  const others = before.filter(at => nearest.has(Math.floor(at / size)));
  if (!history.served) return others;
  const asked = new Set<number>();
  return others.reverse().filter(at => {
    const k = Math.floor(at / size);
    if (history.peek(k) || asked.has(k)) return true;
    if (asked.size >= 8) return false;
    asked.add(k);
    return true;
  });
}

function gather(chunk: Loaded, process: number, row: number, geometry: Geometry, grain: number, scene: Scene): void {
  const { from, to, scale } = geometry;
  const { lanes, laneOps } = chunk;
  const [begins, ends] = sidesOf(chunk, scale);
  const last = lanes[process + 1]!;
  const perPixel = (to - from) / (geometry.width - geometry.left);
  // Unfinished operations are drawn up to the right edge.
  const isWide = (op: number) =>
    ends[op]! - begins[op]! >= NARROW * perPixel || chunk.end[op] === Number.POSITIVE_INFINITY;
  let i = search(last, i => ends[laneOps[i]!]! >= from, lanes[process]!);
  while (i < last) {
    const op = laneOps[i]!;
    const begin = begins[op]!;
    if (begin > to) return;
    if (isWide(op)) {
      scene.boxes.push(box(chunk.first + op, row, chunk, op, geometry));
      i += 1;
      continue;
    }
    const x = Math.floor((toX(geometry, begin) - geometry.left) / grain) * grain + geometry.left;
    const limit = toMoment(geometry, x + grain);
    let next = gallop(laneOps, begins, i + 1, last, limit);
    const final = laneOps[next - 1]!;
    if (next - 1 > i && isWide(final)) next -= 1;
    const sums = sumsOf(chunk, scale);
    const count = next - i;
    const point = count === 1 && ends[op] === begin ? pointOf(chunk, i, process, geometry) : null;
    if (point) {
      scene.boxes.push({ ...box(chunk.first + op, row, chunk, op, geometry), point });
      i = next;
      continue;
    }
    const total = sums[next]! - sums[i]!;
    const before = scene.lastMark[row];
    if (before && before.x === x) {
      // The previous chunk ended in this pixel.
      before.mean = (before.mean * before.count + total) / (before.count + count);
      before.count += count;
    } else {
      const mark = { at: chunk.first + op, count, row, x, width: grain, mean: total / count };
      scene.marks.push(mark);
      scene.lastMark[row] = mark;
    }
    i = next;
  }
}

/** The room around a point; null if others are too close. */
function pointOf(chunk: Loaded, i: number, process: number, geometry: Geometry): Point | null {
  const [begins, ends] = sidesOf(chunk, geometry.scale);
  const { lanes, laneOps } = chunk;
  const x = toX(geometry, begins[laneOps[i]!]!);
  const before = i > lanes[process]! ? x - toX(geometry, ends[laneOps[i - 1]!]!) : APART;
  const until = (j: number) =>
    j < lanes[process + 1]! ? toX(geometry, begins[laneOps[j]!]!) - x : geometry.width + 40 - x;
  const room = until(i + 1);
  if (before < APART || room < APART) return null;
  return { room, wide: until(i + 2), isOdd: chunk.index[laneOps[i]!]! % 2 === 1 };
}

/** Half the width of a point, in pixels. */
export function halfOf(geometry: Geometry): number {
  return Math.min(6, geometry.lane / 2 - 5);
}

/** Galloping search: the first operation from `i` on that begins at `limit` or later, which is usually near. */
function gallop(ops: Uint32Array, begins: ArrayLike<number>, i: number, last: number, limit: number): number {
  let stride = 1;
  let low = i;
  while (low + stride < last && begins[ops[low + stride]!]! < limit) {
    low += stride;
    stride *= 2;
  }
  return search(Math.min(last, low + stride + 1), j => begins[ops[j]!]! >= limit, low);
}

function box(at: number, row: number, chunk: Loaded, i: number, geometry: Geometry): Box {
  const [begin, finish] = sidesOf(chunk, geometry.scale).map(side => side[i]!) as [number, number];
  const x = toX(geometry, begin);
  const open = chunk.end[i] === Number.POSITIVE_INFINITY;
  // Unfinished operations extend beyond the right edge.
  const end = open ? geometry.width + 8 : toX(geometry, finish);
  return { at, row, x, width: end - x, length: finish - begin, open, point: null };
}

function interval(chunk: Loaded, i: number, scale: Scale, history: History): [number, number] {
  if (scale === 'order') return [chunk.from[i]!, chunk.to[i]!];
  return [chunk.start[i]!, Math.min(chunk.end[i]!, history.span('time')[1])];
}

/** The operation at a point of the picture; null if there is none. */
export function hit(history: History, lanes: Lanes, geometry: Geometry, x: number, y: number): number | null {
  const row = rowAt(lanes, geometry, y);
  if (row === null || x < geometry.left) return null;
  const process = lanes.shown[row]!;
  const perPixel = (geometry.to - geometry.from) / (geometry.width - geometry.left);
  const slack = (history.hasPoints ? 7 : 3) * perPixel;
  const moment = toMoment(geometry, x);
  const { scale } = geometry;
  let best: number | null = null;
  let nearest = slack;
  const consider = (chunk: Loaded, i: number) => {
    const [begin, end] = interval(chunk, i, scale, history);
    // The label of a point belongs to it.
    const wide = begin === end ? (history.text(chunk.first + i) ?? '').length * letterWidth() + 14 : 0;
    const distance = Math.max(0, begin - moment, moment - end - wide * perPixel);
    if (distance <= nearest) {
      nearest = distance;
      best = chunk.first + i;
    }
  };
  for (const at of longBetween(history, new Set(chunksBetween(history, scale, moment, moment)))) {
    const chunk = history.chunkOf(at);
    if (chunk && chunk.process[at - chunk.first] === process) consider(chunk, at - chunk.first);
  }
  const earliest = history.hasPoints ? geometry.from : moment - slack;
  for (const k of chunksBetween(history, scale, earliest, moment + slack)) {
    const chunk = history.peek(k);
    if (!chunk) continue;
    const [begins] = sidesOf(chunk, scale);
    const first = chunk.lanes[process]!;
    const last = chunk.lanes[process + 1]!;
    const i = search(last, i => begins[chunk.laneOps[i]!]! > moment, first);
    for (const j of [i - 1, i]) if (j >= first && j < last) consider(chunk, chunk.laneOps[j]!);
  }
  return best;
}

export function rowAt(lanes: Lanes, geometry: Geometry, y: number): number | null {
  const row = Math.floor((y - geometry.top + geometry.scroll) / geometry.lane);
  return y >= geometry.top && row >= 0 && row < lanes.shown.length ? row : null;
}
