// Draws the order as a line through the lanes, with a tick where each step takes effect: the common steps, then those
// of the chosen ending. Unlogged steps are dashed diamonds on the line. If there are too many steps for a line, it is
// omitted.

import { type Points, search } from '../data/history.ts';
import type { Ending } from '../data/types.ts';
import { diamond, type Picture } from './draw.ts';
import type { Pen } from './pen.ts';
import { type Hidden, toX, toY } from './scene.ts';

export interface Stretch {
  first: number;
  op: ArrayLike<number>;
  partway: ArrayLike<number | boolean>;
  points: Points;
}

/** Minimum average distance of steps, in pixels; closer ones are not drawn. */
const CLOSE = 4;

export function drawOrder(pen: Pen, picture: Picture): Stretch[] {
  const { history, geometry } = picture;
  const { timeline } = history;
  const { from, to, scale } = geometry;
  const low = scale === 'order' ? from : history.rankOf(from);
  const high = scale === 'order' ? to : history.rankOf(to);
  const steps = (timeline.steps / Math.max(1, timeline.ranks)) * (high - low);
  if (steps > (geometry.width - geometry.left) / CLOSE) return [];
  const stretches: Stretch[] = [];
  for (const [k, { rank }] of timeline.orders.entries()) {
    const next = timeline.orders[k + 1]?.rank ?? Number.POSITIVE_INFINITY;
    if (rank > high || next < low) continue;
    const points = history.stepPoints(k);
    if (points) stretches.push(points);
  }
  const own = picture.endings[picture.ending];
  const others = picture.allEndings ? picture.endings.filter(ending => ending !== own) : [];
  const end = lastPoint(picture);
  for (const other of others) {
    const stretch = stretchOf(picture, other);
    if (stretch) drawStretches(pen, picture, [stretch], end, true);
  }
  const stretch = own && stretchOf(picture, own);
  if (stretch) stretches.push(stretch);
  drawStretches(pen, picture, stretches, null, false);
  return stretches;
}

/** Half the width of an unlogged step, in pixels. */
const SMALL = 4.5;

/** Draws the unlogged steps between the drawn ones, and returns them. Before the first step and after the last there is
 * a moment of room. */
export function drawUnlogged(pen: Pen, picture: Picture, stretches: Stretch[]): Hidden[] {
  const { history, geometry, colors } = picture;
  const unlogged = history.unlogged();
  const moment = (geometry.width - geometry.left) / (geometry.to - geometry.from);
  const pointOf = (step: number): [number, number] | null => {
    const stretch = stretches.find(({ first, op }) => step >= first && step < first + op.length);
    if (!stretch) return null;
    const i = step - stretch.first;
    return [toX(geometry, stretch.points[geometry.scale][i]!), middle(picture, stretch.op[i]!)];
  };
  const drawn: Hidden[] = [];
  const first = Math.min(...stretches.map(stretch => stretch.first));
  for (let at = search(unlogged.length, i => unlogged[i]!.before >= first); at < unlogged.length; ) {
    const { before } = unlogged[at]!;
    const end = search(unlogged.length, i => unlogged[i]!.before > before, at);
    const after = pointOf(before);
    const last = pointOf(before - 1);
    const from = last ?? (after && [after[0] - moment, after[1]]);
    const to = after ?? (last && [last[0] + moment, last[1]]);
    if (!from || !to || from[0] > geometry.width) break;
    for (let i = at; i < end && to[0] >= geometry.left; i += 1) {
      const part = (i - at + 1) / (end - at + 1);
      // Between two steps of a lane, the text of the first is in the middle of the lane.
      const up = from[1] === to[1] ? geometry.lane / 2 - SMALL - 1 : 0;
      const [x, y] = [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part - up];
      diamond(pen, x, y, SMALL, { fill: colors.bg, stroke: colors.line, width: 1.3, dash: [2, 2] });
      drawn.push({ at: i, x, y });
    }
    at = end;
  }
  return drawn;
}

const known = new WeakMap<Ending, Stretch>();

/** The steps of an ending; null if some data is not loaded yet. */
function stretchOf({ history }: Picture, ending: Ending): Stretch | null {
  const found = known.get(ending);
  if (found) return found;
  const { orders, steps } = history.timeline;
  const last = orders.length - 1;
  const before = last >= 0 ? history.stepPoints(last) : null;
  if (last >= 0 && !before) return null;
  const op = ending.steps.map(step => step.op);
  const points = history.pointsOf(op, before?.points.last ?? 0);
  if (!points) return null;
  const stretch = { first: steps, op, partway: ending.steps.map(step => step.partway), points };
  known.set(ending, stretch);
  return stretch;
}

/** The last common step, where endings begin. */
function lastPoint(picture: Picture): [number, number] | null {
  const { history, geometry } = picture;
  const { orders } = history.timeline;
  const steps = orders.length > 0 ? history.stepPoints(orders.length - 1) : null;
  if (!steps || steps.op.length === 0) return null;
  const i = steps.op.length - 1;
  return [toX(geometry, steps.points[geometry.scale][i]!), middle(picture, steps.op[i]!)];
}

function drawStretches(
  pen: Pen,
  picture: Picture,
  stretches: Stretch[],
  begin: [number, number] | null,
  thin: boolean,
): void {
  const { geometry, colors } = picture;
  const { from, to, scale, lane } = geometry;
  const line: number[] = begin ? [...begin] : [];
  const ticks: { x: number; y: number; partway: boolean; step: number; isPoint: boolean }[] = [];
  const hidden = toY(geometry, picture.lanes.shown.length);
  for (const { first, op, partway, points } of stretches) {
    const moments = points[scale];
    const low = Math.max(0, search(moments.length, i => moments[i]! >= from) - 1);
    const high = Math.min(moments.length, search(moments.length, i => moments[i]! > to) + 1);
    for (let i = low; i < high; i += 1) {
      const x = toX(geometry, moments[i]!);
      const y = middle(picture, op[i]!);
      line.push(x, y);
      ticks.push({ x, y, partway: Boolean(partway[i]), step: first + i, isPoint: isPoint(picture, op[i]!) });
    }
  }
  // The denser the steps, the fainter the line.
  const room = (geometry.width - geometry.left) / Math.max(1, ticks.length);
  if (line.length >= 4) {
    // Messages and names stand out from the line between points.
    const most = ticks.some(tick => tick.isPoint) ? 0.4 : 0.75;
    const alpha = Math.min(most, Math.max(0.25, (room - CLOSE) / 24));
    pen.line(
      line,
      thin ? { stroke: colors.line, width: 1, dash: [3, 3], alpha: 0.6 } : { stroke: colors.line, width: 1.3, alpha },
    );
  }
  if (thin || room < 2 * CLOSE) return;
  const wide = room < 4 * CLOSE ? 2 : 3;
  for (const { x, y, partway, step, isPoint } of ticks) {
    if (isPoint) continue;
    const reach = y > hidden ? 3 : lane / 2 - 3;
    // A step that leaves its operation partway is hollow.
    if (partway) pen.rect(x - 2, y - reach, 4, 2 * reach, { fill: colors.bg, stroke: colors.line, width: 1 });
    else pen.rect(x - wide / 2, y - reach, wide, 2 * reach, { fill: colors.line });
    if (step === picture.step)
      pen.rect(x - 5, y - 5, 10, 10, { fill: colors.accent, stroke: colors.bg, width: 2, radius: 5 });
  }
}

function isPoint({ history }: Picture, at: number): boolean {
  const chunk = history.chunkOf(at);
  return chunk !== null && chunk.from[at - chunk.first] === chunk.to[at - chunk.first];
}

/** The middle of the lane of an operation. Hidden lanes map to the button below the others that expands them. */
function middle({ history, lanes, geometry }: Picture, at: number): number {
  const chunk = history.chunkOf(at);
  const row = chunk ? lanes.rows[chunk.process[at - chunk.first]!]! : -1;
  return toY(geometry, row < 0 ? lanes.shown.length : row) + geometry.lane / 2;
}
