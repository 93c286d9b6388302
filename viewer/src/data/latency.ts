// Durations of operations over time, gathered chunk by chunk.
//
// The operations of a short history are kept one by one. Those of a long one are counted: for each column of time and
// each action, in a histogram whose bins grow by a constant factor, so that quantiles are exact to about 5 % and memory
// does not depend on the number of operations. The longest operation of each column and action is exact.

import type { History, Loaded, Outcome } from './history.ts';

/** A history of at most this many operations is kept one by one. */
const FEW = 20_000;
export const COLUMNS = 240;
/** Bins for each factor of two, and all bins: durations up to 2^48. */
const [FINE, BINS] = [8, 384];
/** Actions that are told apart; the others share the last kind. */
const KINDS = 6;
/** Most operations with an outcome that are kept. */
const ODD = 2000;

export interface Dot {
  at: number;
  time: number;
  /** Null if it did not return. */
  duration: number | null;
  kind: number;
}

export interface Figures {
  count: number;
  median: number;
  high: number;
  longest: { at: number; duration: number } | null;
  /** Operations that did not return. */
  open: number;
}

export class Latency {
  /** The actions, most frequent first; the last one stands for all others if there are many. */
  readonly kinds: string[];
  /** The operations, if they are few; else empty. */
  readonly dots: Dot[] = [];
  readonly isFew: boolean;
  /** Operations that did not return or failed. */
  readonly odd: (Dot & { outcome: NonNullable<Outcome> })[] = [];
  added = 0;
  /** The longest and the shortest duration. */
  most = 1;
  least = Number.POSITIVE_INFINITY;
  private readonly history: History;
  private readonly last: number;
  private readonly places: Map<string, number>;
  private readonly seen: Uint8Array;
  /** By kind, then by column, then by bin. */
  private readonly bins: Uint32Array;
  /** The same of all columns, by kind and bin. */
  private readonly sums: Uint32Array;
  /** The longest of each kind and column. */
  private readonly tops: Float64Array;
  private readonly longest: ({ at: number; duration: number } | null)[];
  private readonly open: number[];

  constructor(history: History) {
    const actions = history.timeline.actions.filter(action => action.count > 0).map(action => action.name);
    this.history = history;
    this.kinds = actions.length > KINDS ? [...actions.slice(0, KINDS - 1), 'other actions'] : actions;
    this.places = new Map(actions.map((name, at) => [name, Math.min(at, KINDS - 1)]));
    this.isFew = history.size <= FEW;
    this.last = history.span('time')[1];
    this.seen = new Uint8Array(history.timeline.chunks.length);
    this.bins = new Uint32Array(this.kinds.length * COLUMNS * BINS);
    this.sums = new Uint32Array(this.kinds.length * BINS);
    this.tops = new Float64Array(this.kinds.length * COLUMNS);
    this.longest = this.kinds.map(() => null);
    this.open = this.kinds.map(() => 0);
  }

  has(k: number): boolean {
    return this.seen[k] === 1;
  }

  add(k: number, chunk: Loaded): void {
    if (this.has(k)) return;
    this.seen[k] = 1;
    this.added += chunk.count;
    const kinds = this.history.timeline.shapes.map(shape => this.places.get(shape.action) ?? 0);
    for (let i = 0; i < chunk.count; i += 1) {
      const kind = chunk.plain ? (this.places.get(chunk.plain[i]!.action) ?? 0) : kinds[chunk.shape[i]!]!;
      const [at, time] = [chunk.first + i, chunk.start[i]!];
      const isOpen = chunk.end[i] === Number.POSITIVE_INFINITY;
      const duration = isOpen ? null : chunk.end[i]! - time;
      const outcome = isOpen || this.history.hasOutcome(at) ? this.history.outcomeOf(at) : null;
      const dot = { at, time, duration, kind };
      if (outcome && this.odd.length < ODD) this.odd.push({ ...dot, outcome });
      if (this.isFew) this.dots.push(dot);
      if (duration === null) {
        this.open[kind]! += 1;
        continue;
      }
      const column = kind * COLUMNS + this.columnOf(time);
      const bin = binOf(duration);
      this.bins[column * BINS + bin]! += 1;
      this.sums[kind * BINS + bin]! += 1;
      this.tops[column] = Math.max(this.tops[column]!, duration);
      this.most = Math.max(this.most, duration);
      this.least = Math.min(this.least, duration);
      if (duration > (this.longest[kind]?.duration ?? -1)) this.longest[kind] = { at, duration };
    }
  }

  columnOf(time: number): number {
    return Math.min(COLUMNS - 1, Math.floor((time / this.last) * COLUMNS));
  }

  timeOf(column: number): number {
    return (column / COLUMNS) * this.last;
  }

  /** Median, 99th percentile and maximum of the given kinds in a column; null if it has no operation. */
  inColumn(column: number, kinds: number[]): { median: number; high: number; most: number } | null {
    const places = kinds.map(kind => kind * COLUMNS + column);
    const most = Math.max(0, ...places.map(place => this.tops[place]!));
    const { median, high, count } = quantiles(this.bins, places, most);
    return count === 0 ? null : { median, high, most };
  }

  figures(kind: number): Figures {
    const [longest, open] = [this.longest[kind]!, this.open[kind]!];
    const { median, high, count } = quantiles(this.sums, [kind], longest?.duration ?? 0);
    return { count: count + open, median, high, longest, open };
  }
}

/** The median and the 99th percentile of histograms at these places, at most `most`, and the number of durations. */
function quantiles(bins: Uint32Array, places: number[], most: number): { median: number; high: number; count: number } {
  const sums = new Uint32Array(BINS);
  for (const place of places) for (let bin = 0; bin < BINS; bin += 1) sums[bin]! += bins[place * BINS + bin]!;
  const count = sums.reduce((sum, n) => sum + n, 0);
  const at = (share: number) => {
    let below = 0;
    const bin = sums.findIndex(n => {
      below += n;
      return below >= count * share;
    });
    return Math.min(most, durationOf(bin));
  };
  return count === 0 ? { median: 0, high: 0, count } : { median: at(0.5), high: at(0.99), count };
}

function binOf(duration: number): number {
  return duration < 1 ? 0 : Math.min(BINS - 1, 1 + Math.floor(Math.log2(duration) * FINE));
}

function durationOf(bin: number): number {
  return bin === 0 ? 0 : Math.round(2 ** ((bin - 0.5) / FINE));
}
