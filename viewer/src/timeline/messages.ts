// Draws messages as arrows from the sending operation to the receiving one, unless there are too many to tell apart; and
// the links between operations that contradict each other.

import { chain } from '../data/chain.ts';
import { search, sidesOf } from '../data/history.ts';
import type { Picture } from './draw.ts';
import type { Pen } from './pen.ts';
import { type Geometry, halfOf, toX, toY } from './scene.ts';

/** Minimum average distance of arrows, in pixels; closer ones are not drawn. */
const CLOSE = 5;
const HEAD = 7;

export function drawMessages(pen: Pen, picture: Picture): void {
  const { history, geometry, colors, selection } = picture;
  const messages = history.messages();
  const range = messages && visiblePlaces(picture);
  if (!messages || !range) return;
  const { send, receive, longest } = messages;
  const [first, last] = range;
  const found: number[] = [];
  const most = (geometry.width - geometry.left) / CLOSE;
  for (let i = search(receive.length, i => receive[i]! >= first); i < receive.length; i += 1) {
    if (receive[i]! > last + longest) break;
    if (send[i]! <= last) found.push(i);
    if (found.length > most) return;
  }
  for (const i of found) {
    const from = pointOf(picture, send[i]!);
    const to = pointOf(picture, receive[i]!);
    if (!from || !to || (from.isHidden && to.isHidden)) continue;
    const isChosen = selection !== null && (selection === send[i] || selection === receive[i]);
    const stroke = isChosen ? colors.accent : colors.muted;
    arrow(pen, geometry, from, to, stroke, isChosen);
  }
}

/** Draws the links of a contradiction, from the end of an operation to the beginning of the later one. */
export function drawChain(pen: Pen, picture: Picture): void {
  const { report, history, colors, contradicting, geometry } = picture;
  if (contradicting.length === 0) return;
  const refs = report.operations.map((_, op) => op);
  const isPart = (op: number) => contradicting.includes(history.timeline.mentioned[op] ?? -1);
  for (const { from, to, kind } of chain(report, refs.filter(isPart))) {
    if (kind === 'process' || kind === 'none') continue;
    const ends = [from, to].map(op => pointOf(picture, history.timeline.mentioned[op]!));
    const [a, b] = ends;
    if (!a || !b || a.isHidden || b.isHidden) continue;
    const [start, end] = kind === 'time' ? [a.end, b.begin] : [a.x, b.x];
    arrow(
      pen,
      geometry,
      { ...a, x: start },
      { ...b, x: end },
      kind === 'time' ? colors.blocked : colors.accent,
      kind === 'time',
      0,
    );
  }
}

interface Point {
  x: number;
  y: number;
  /** The pixels of its beginning and end. */
  begin: number;
  end: number;
  isHidden: boolean;
}

/** The middle of an operation; null if it is not loaded yet. Hidden lanes map to the button below the others. */
function pointOf({ history, geometry, lanes }: Picture, at: number): Point | null {
  const chunk = history.chunkOf(at);
  if (!chunk) return null;
  const i = at - chunk.first;
  const last = history.span(geometry.scale)[1];
  const [from, to] = sidesOf(chunk, geometry.scale).map(side => toX(geometry, Math.min(side[i]!, last))) as [
    number,
    number,
  ];
  const row = lanes.rows[chunk.process[i]!]!;
  const y = toY(geometry, row < 0 ? lanes.shown.length : row) + geometry.lane / 2;
  return { x: (from + to) / 2, y, begin: from, end: to, isHidden: row < 0 };
}

/** The first operation that begins in the picture or later, and the last that begins there or earlier; null if there
 * are no operations. */
function visiblePlaces({ history, geometry }: Picture): [number, number] | null {
  const { from, to, scale } = geometry;
  const field = scale === 'order' ? 'ranks' : 'times';
  const { chunks } = history.timeline;
  let range: [number, number] | null = null;
  for (const [k, { first, count, ...ends }] of chunks.entries()) {
    const next = chunks[k + 1]?.[field][0] ?? Number.POSITIVE_INFINITY;
    if (ends[field][0] > to || next < from) continue;
    const chunk = history.chunk(k);
    const begins = chunk && sidesOf(chunk, scale)[0];
    const low = begins ? search(count, i => begins[i]! >= from) : 0;
    const high = begins ? search(count, i => begins[i]! > to) : count;
    range = [Math.min(range?.[0] ?? Number.POSITIVE_INFINITY, first + low), first + high - 1];
  }
  return range;
}

/** An arrow between the edges of two points. One within a lane bends, so that it does not hide the events between. */
function arrow(
  pen: Pen,
  geometry: Geometry,
  from: Point,
  to: Point,
  stroke: string,
  isChosen: boolean,
  gap = halfOf(geometry) + 1,
): void {
  const bend = from.y === to.y ? [(from.x + to.x) / 2, from.y - geometry.lane / 2 + 3] : [];
  const [x, y] = bend.length > 0 ? (bend as [number, number]) : [from.x, from.y];
  const length = Math.hypot(to.x - x, to.y - y);
  if (length < 2 * gap + HEAD) return;
  const across = (to.x - x) / length;
  const down = (to.y - y) / length;
  const tip = [to.x - across * gap, to.y - down * gap] as const;
  const style = { stroke, width: isChosen ? 1.8 : 1.1, alpha: isChosen ? 1 : 0.75 };
  const start = bend.length > 0 ? [from.x, from.y - gap] : [from.x + across * gap, from.y + down * gap];
  pen.line([...start, ...bend, tip[0] - across * (HEAD - 1), tip[1] - down * (HEAD - 1)], style);
  const [left, top] = [tip[0] - across * HEAD, tip[1] - down * HEAD];
  const wide = HEAD * 0.42;
  pen.line([...tip, left - down * wide, top + across * wide, left + down * wide, top - across * wide], {
    fill: stroke,
    alpha: style.alpha,
  });
}
