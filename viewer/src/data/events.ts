// Faults and annotations of a history, on the clock of its timeline.

import type { Report, Timeline } from './types.ts';

export interface Event {
  name: string;
  text: string;
  tag: string;
  /** In ticks since the origin. */
  start: number;
  /** Equal to `start` if it has no duration. */
  end: number;
  /** The processes that it concerns; all if none of its nodes is one. */
  processes: number[];
  /** The names as reported. */
  nodes: string[];
  /** Events that overlap are in different rows. */
  row: number;
  /** Events with the same tag have the same colour. */
  hue: number;
}

/** Most rows; further events share the last one. */
const ROWS = 3;

/** The events of a report, by start. */
export function eventsOf({ history: { events } }: Report, { origin, processes }: Timeline): Event[] {
  const zero = BigInt(origin);
  // Times are far apart from each other, but not from the origin, so that differences are exact enough.
  const since = (time: number) => Number(BigInt(Math.round(time)) - zero);
  const found = (events ?? [])
    .filter(event => Number.isFinite(event.start))
    .map((event): Event => {
      const start = since(event.start);
      const nodes = event.nodes ?? [];
      const concerned = processes.map((_, at) => at).filter(at => nodes.some(node => isOf(processes[at]!, node)));
      return {
        name: event.name,
        text: event.text,
        tag: event.tag ?? '',
        start,
        end: event.end == null ? start : Math.max(start, since(event.end)),
        processes: concerned.length > 0 ? concerned : processes.map((_, at) => at),
        nodes,
        row: 0,
        hue: 0,
      };
    })
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const ends: number[] = [];
  const tags = [...new Set(found.map(event => event.tag))];
  for (const event of found) {
    event.hue = tags.indexOf(event.tag);
    const free = ends.findIndex(end => end < event.start);
    event.row = free >= 0 ? free : Math.min(ends.length, ROWS - 1);
    ends[event.row] = Math.max(ends[event.row] ?? event.end, event.end);
  }
  return found;
}

/** True if a process is a node, or one of its clients: `n1`, `n1:3`, `n1/worker`. */
function isOf(process: string, node: string): boolean {
  return process === node || (process.startsWith(node) && /^[:/@#-]/.test(process.slice(node.length)));
}
