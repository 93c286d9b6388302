// Draws faults and annotations: a bar above the lanes for each, and a shade through the lanes that it concerns.

import type { Event } from '../data/events.ts';
import type { History } from '../data/history.ts';
import { visible } from '../text.ts';
import type { Colors } from './colors.ts';
import type { Picture } from './draw.ts';
import { cut, letterWidth, type Pen, type Style } from './pen.ts';
import { AXIS, EVENT, type Geometry, toX, toY } from './scene.ts';

const LEAST = 4;

/** The colours of an event, by its tag: of its border and name, and of its shade. */
export function eventColors(colors: Colors, { hue }: Event): { solid: string; soft: Style } {
  const solid = [colors.event, colors.kind3, colors.kind2][hue % 3]!;
  return { solid, soft: hue % 3 === 0 ? { fill: colors.eventSoft, alpha: 0.55 } : { fill: solid, alpha: 0.14 } };
}

function extent(geometry: Geometry, history: History, { start, end }: Event): [number, number] {
  const at = (time: number) => toX(geometry, geometry.scale === 'time' ? time : history.rankOf(time));
  const from = at(start);
  return [from, Math.max(from + LEAST, at(end))];
}

/** Shades the lanes that events concern while they last. */
export function drawShades(pen: Pen, { geometry, colors, history, lanes }: Picture): void {
  for (const event of history.events) {
    const [from, to] = extent(geometry, history, event);
    if (to < geometry.left || from > geometry.width) continue;
    const rows = event.processes.map(process => lanes.rows[process]!).filter(row => row >= 0);
    for (const row of rows) {
      pen.rect(from, toY(geometry, row), to - from, geometry.lane, eventColors(colors, event).soft);
    }
  }
}

/** Draws the bars, and the name of their lane. */
export function drawEvents(pen: Pen, { geometry, colors, history }: Picture): void {
  const { events } = history;
  if (events.length === 0) return;
  const { left, top, width } = geometry;
  pen.text(left - 6, (AXIS + top) / 2, 'faults', { fill: colors.event, small: true, align: 'right' });
  pen.rect(left, top - 1, width - left, 1, { fill: colors.border });
  pen.within(left, AXIS, width - left, top - AXIS, () => {
    for (const [at, event] of events.entries()) {
      const [from, to] = extent(geometry, history, event);
      if (to < left || from > width) continue;
      const y = AXIS + 3 + event.row * EVENT;
      const { solid, soft } = eventColors(colors, event);
      pen.rect(from, y, to - from, EVENT - 4, soft);
      pen.rect(from, y, to - from, EVENT - 4, { stroke: solid, width: 1, radius: 2 });
      // The label may extend to the next event of the row.
      const next = events.slice(at + 1).find(other => other.row === event.row);
      const limit = next ? extent(geometry, history, next)[0] : width + 40;
      const x = Math.max(from, left) + 5;
      const label = visible(event.tag ? `${event.name} (${event.tag})` : event.name);
      const room = Math.max(to, limit) - x - 4;
      const shown = cut(label, room);
      if (x + shown.length * letterWidth() > to) pen.rect(to + 1, y, 2, EVENT - 4, { fill: colors.bg });
      pen.text(x, y + (EVENT - 4) / 2, shown, { fill: solid, small: true });
    }
  });
}

/** The index of the event at a point of the picture; null if there is none. */
export function eventAt(geometry: Geometry, history: History, x: number, y: number): number | null {
  if (y < AXIS || y >= geometry.top || x < geometry.left) return null;
  const row = Math.floor((y - AXIS - 1) / EVENT);
  const found = history.events.findIndex(event => {
    const [from, to] = extent(geometry, history, event);
    return event.row === row && x >= from - 3 && x <= to + 3;
  });
  return found < 0 ? null : found;
}
