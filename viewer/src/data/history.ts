// A history that is loaded in parts: on demand, or when the browser is idle. A long history is never in memory as a whole:
// parts that were not used for the longest time are dropped.
//
// Accessors return null for data that is not loaded yet and start loading it; `version` changes when a part has
// arrived. A *place* is the index of an operation, sorted by start; a *step* is an index into the order; a *rank* is an
// index into all distinct times. Each chunk groups its operations by process (`lanes`), sorted by start, so the visible
// operations of a lane are found by binary search.

import { type Signal, signal } from '@preact/signals';
import { Cache } from './cache.ts';
import type { Clock } from './clock.ts';
import {
  type Columns,
  decodeChunk,
  decodeMessages,
  decodeOrder,
  decodeUnlogged,
  type Messages,
  type Steps,
  type Unlogged,
} from './decode.ts';
import { type Event, eventsOf } from './events.ts';
import type { Source } from './parts.ts';
import { fromReport } from './plain.ts';
import type { Field, Operation, Report, Shape, Timeline } from './types.ts';

export type Scale = 'order' | 'time';

export interface Op {
  at: number;
  /** Such as `T3:12`. */
  name: string;
  /** An index into `timeline.processes`. */
  process: number;
  index: number;
  action: string;
  /** Action, arguments and results, as printed. */
  text: string;
  args: Field[];
  results: Field[];
  meta: Field[];
  /** Since `timeline.origin`. */
  start: number;
  /** Null if the operation is unfinished. */
  end: number | null;
  /** The start as a rank. */
  from: number;
  /** The end as a rank; one past the last rank if the operation is unfinished. */
  to: number;
}

export interface Step {
  op: number;
  partway: boolean;
}

export interface Loaded extends Columns {
  /** The place of its first operation. */
  first: number;
  /** Where the operations of each process begin in `laneOps`, plus the end of the last. */
  lanes: Uint32Array;
  /** Operations, relative to `first`, sorted by process and then by start. */
  laneOps: Uint32Array;
  /** Prefix sums of durations in the order of `laneOps`, per scale; null until needed. */
  sums: { order: Float64Array | null; time: Float64Array | null };
  /** The operations of the report, if the page has no timeline. */
  plain: Op[] | null;
}

interface LoadedOrder extends Steps {
  first: number;
  points: Points | null;
}

/** Where steps are drawn: between the largest start so far and the next moment. */
export interface Points {
  order: Float64Array;
  time: Float64Array;
  /** The largest start up to the last step, as a rank. */
  last: number;
}

/** How an operation ended; null if it returned. */
export type Outcome = NonNullable<Operation['outcome']> | null;

/** What an operation saw of another: it missed it, it saw it, or the other is later in the order. */
export type Sight = 'missed' | 'seen' | 'later';

const NOTHING: ReadonlySet<number> = new Set();

/** Most chunks, and most parts of the order, in memory: about 2 million operations, which take about 100 MB. */
const KEPT = 128;
/** Most chunks that a picture is drawn from: it must not need more than are kept. */
export const SHOWN = KEPT / 2;

const SLICE = 30;

export class History {
  /** Changes whenever a part has arrived. */
  readonly version: Signal<number> = signal(0);
  readonly problem: Signal<string | null> = signal(null);
  readonly timeline: Timeline;
  readonly size: number;
  /** True if operations are points in time, such as the events of a log: each has a time of its own. */
  readonly hasPoints: boolean;
  readonly events: Event[];
  readonly clock: Clock;
  /** The outcomes that the report has, by place. */
  private readonly outcomes: Map<number, Outcome>;
  /** True if no thread is enabled any more: every operation that did not return waits for ever. */
  private readonly isStuck: boolean;
  private readonly lastTime: number;
  /** True if operations take effect within their intervals; in program order they need not. */
  private readonly isTimed: boolean;
  private readonly parts: Source | null;
  private readonly query: [string, string][];
  private readonly chunks: Cache<Loaded>;
  private readonly orders: Cache<LoadedOrder>;
  /** The parts of the order that were loaded, whether or not they still are: `firsts` and `steps` know their steps. */
  private readonly seen: Uint8Array;
  /** The first and the last step of each operation, plus one. */
  private readonly firsts: Uint32Array;
  private readonly steps: Uint32Array;
  private readonly chunkSize: number;
  private readonly orderSize: number;
  private readonly isPlainWithNodes: boolean;
  /** The known nodes of processes, and the chunks that were searched for them. */
  private readonly nodeOf: (string | null)[];
  private readonly searched: Uint8Array;
  private sent: Messages | null = null;
  private hidden: Unlogged[] | null = null;
  private readonly loads = new Map<string, Promise<void>>();
  /** What operations missed, and by which each was missed. */
  private readonly missedOf: Map<number, ReadonlySet<number>>;
  private readonly missedFrom = new Map<number, number[]>();

  /** `query` is sent with requests for orders. Chunks are shared with `before`, because they never change. */
  constructor(
    parts: Source | null,
    timeline: Timeline | null,
    report: Report,
    query: [string, string][] = [],
    before: History | null = null,
  ) {
    const plain = timeline ? null : fromReport(report);
    this.parts = timeline ? parts : null;
    this.timeline = timeline ?? plain!.timeline;
    this.query = query;
    this.isTimed = report.order === 'real-time';
    this.events = eventsOf(report, this.timeline);
    this.clock = report.clock ?? null;
    this.outcomes = new Map(
      report.operations.flatMap(({ outcome }, op) => (outcome ? [[this.timeline.mentioned[op] ?? -1, outcome]] : [])),
    );
    this.isStuck = /no thread is enabled/i.test(report.ended ?? '');
    const { chunks, orders, operations, ranks, long } = this.timeline;
    this.size = operations;
    this.hasPoints = operations > 0 && ranks === operations && long.length === 0;
    this.lastTime = chunks.reduce((last, chunk) => Math.max(last, chunk.times[1]), 1);
    const shared = before && before.size === operations ? before : null;
    // In program order, the steps of a part may be anywhere in the history, so all chunks are needed at once.
    const most = this.isTimed ? KEPT : Number.POSITIVE_INFINITY;
    this.chunks = shared?.chunks ?? new Cache(chunks.length, most);
    this.orders = new Cache(orders.length, most);
    this.seen = new Uint8Array(orders.length);
    this.isPlainWithNodes = plain?.operations.some(op => op.meta.some(({ name }) => name === 'node')) ?? false;
    this.nodeOf = this.timeline.processes.map(() => null);
    this.searched = new Uint8Array(chunks.length);
    this.firsts = new Uint32Array(operations);
    this.steps = new Uint32Array(operations);
    this.chunkSize = Math.max(1, chunks[0]?.count ?? 1);
    this.orderSize = Math.max(1, orders[0]?.count ?? 1);
    const missed = this.timeline.missed ?? [];
    this.missedOf = new Map(missed.map(([at, others]) => [at, new Set(others)]));
    for (const [at, others] of missed) {
      for (const other of others) {
        const by = this.missedFrom.get(other);
        if (by) by.push(at);
        else this.missedFrom.set(other, [at]);
      }
    }
    if (plain && operations > 0) this.addChunk(0, plain.columns, plain.operations);
  }

  get served(): boolean {
    return this.parts?.served ?? false;
  }

  /** The operation at a place; null if not loaded yet. */
  op(at: number): Op | null {
    const chunk = this.chunkOf(at);
    if (!chunk) return null;
    const i = at - chunk.first;
    if (chunk.plain) return chunk.plain[i]!;
    const shape = this.timeline.shapes[chunk.shape[i]!]!;
    const values = chunk.values(i);
    const end = chunk.end[i]!;
    const results = shape.args.length;
    const meta = results + shape.results.length;
    return {
      at,
      name: this.nameIn(chunk, i),
      process: chunk.process[i]!,
      index: chunk.index[i]!,
      action: shape.action,
      text: printed(shape, values),
      args: shape.args.map((name, place) => ({ name, value: values[place]! })),
      results: shape.results.map((name, place) => ({ name, value: values[results + place]! })),
      meta: shape.meta.map((name, place) => ({ name, value: values[meta + place]! })),
      start: chunk.start[i]!,
      end: end === Number.POSITIVE_INFINITY ? null : end,
      from: chunk.from[i]!,
      to: chunk.to[i]!,
    };
  }

  /** True if the report says how an operation ended. */
  hasOutcome(at: number): boolean {
    return this.outcomes.has(at);
  }

  /** How an operation ended; null if it returned or is not loaded yet. */
  outcomeOf(at: number): Outcome {
    const known = this.outcomes.get(at);
    if (known) return known;
    const chunk = this.chunkOf(at);
    if (chunk?.end[at - chunk.first] !== Number.POSITIVE_INFINITY) return null;
    return this.isStuck ? 'blocked' : 'unfinished';
  }

  /** True if operations carry the node that they ran on or against. */
  get hasNodes(): boolean {
    return this.timeline.shapes.some(shape => shape.meta.includes('node')) || this.isPlainWithNodes;
  }

  /** The node of each process, that of its first loaded operation; null if none is known yet. */
  nodes(): readonly (string | null)[] {
    for (let k = 0; k < this.chunks.length && this.nodeOf.includes(null); k += 1) {
      const chunk = this.chunks.peek(k);
      if (!chunk || this.searched[k]) continue;
      this.searched[k] = 1;
      for (const [process, known] of this.nodeOf.entries()) {
        const first = chunk.lanes[process]!;
        if (known !== null || first === chunk.lanes[process + 1]) continue;
        const meta = this.op(chunk.first + chunk.laneOps[first]!)?.meta ?? [];
        this.nodeOf[process] = meta.find(({ name }) => name === 'node')?.value.replace(/^"|"$/g, '') ?? null;
      }
    }
    return this.nodeOf;
  }

  /** The name of an operation, such as `T3:12`; null if not loaded yet. */
  name(at: number): string | null {
    const chunk = this.chunkOf(at);
    return chunk && this.nameIn(chunk, at - chunk.first);
  }

  /** The printed text of an operation; null if not loaded yet. */
  text(at: number): string | null {
    const chunk = this.chunkOf(at);
    if (!chunk) return null;
    const i = at - chunk.first;
    return chunk.plain ? chunk.plain[i]!.text : printed(this.timeline.shapes[chunk.shape[i]!]!, chunk.values(i));
  }

  /** The chunk that contains an operation; null if not loaded yet. */
  chunkOf(at: number): Loaded | null {
    if (at < 0 || at >= this.size) return null;
    return this.chunk(Math.floor(at / this.chunkSize));
  }

  /** The chunk with this number; null if not loaded yet. */
  chunk(k: number): Loaded | null {
    const chunk = this.chunks.get(k);
    if (!chunk) void this.loadChunk(k);
    return chunk;
  }

  /** The chunk with this number if it is loaded; does not start loading it. */
  peek(k: number): Loaded | null {
    return this.chunks.peek(k);
  }

  ensure(from: number, to: number): Promise<unknown> {
    return each(from, to, this.chunkSize, k => this.loadChunk(k));
  }

  ensureSteps(from: number, to: number): Promise<unknown> {
    return each(from, to, this.orderSize, k => this.loadOrder(k));
  }

  /** A common step; null if not loaded yet. */
  step(step: number): Step | null {
    if (step < 0 || step >= this.timeline.steps) return null;
    const order = this.order(Math.floor(step / this.orderSize));
    if (!order) return null;
    const i = step - order.first;
    return { op: order.op[i]!, partway: order.partway[i] === 1 };
  }

  /** The operation of a common step; null if not loaded yet. */
  opAtStep(step: number): number | null {
    return this.step(step)?.op ?? null;
  }

  /** The last common step of an operation; null if it takes none or is not loaded yet. */
  stepOf(at: number): number | null {
    return this.steps[at] ? this.steps[at] - 1 : null;
  }

  /** The first common step of an operation; null if it takes none or is not loaded yet. */
  firstStepOf(at: number): number | null {
    return this.firsts[at] ? this.firsts[at] - 1 : null;
  }

  /** True if every common step that an operation with this interval, in ranks, could take is loaded. Starts loading the
   * missing ones. */
  hasSteps(from: number, to: number): boolean {
    let complete = true;
    for (let k = this.orders.length - 1; k >= 0; k -= 1) {
      const { orders } = this.timeline;
      // No operation that starts at `from` or later has a step in this part or an earlier one.
      if (this.isTimed && (orders[k + 1]?.rank ?? Number.POSITIVE_INFINITY) < from) break;
      // An operation that began after `to` took effect before this part, so this one did too.
      if (this.isTimed && orders[k]!.rank > to) continue;
      if (this.seen[k]) continue;
      complete = false;
      void this.loadOrder(k);
    }
    return complete;
  }

  /** The common steps of a part and where they are drawn; null if some data is not loaded yet. */
  stepPoints(k: number): (Steps & { first: number; points: Points }) | null {
    const order = this.order(k);
    if (!order) return null;
    order.points ??= this.pointsOf(order.op, this.timeline.orders[k]!.rank);
    return order.points ? (order as Steps & { first: number; points: Points }) : null;
  }

  /** Where steps are drawn if the largest start before them is `rank`; null if an operation is not loaded yet.
   *
   * A step is drawn no earlier than the previous step and the start of its operation. Steps at the same moment are
   * spread evenly up to the next moment, or up to the first end among them. */
  pointsOf(ops: ArrayLike<number>, rank: number): Points | null {
    const count = ops.length;
    const order = new Float64Array(count);
    const time = new Float64Array(count);
    const lastRank = new Float64Array(count);
    const lastTime = new Float64Array(count);
    let moment = this.timeOf(rank);
    let complete = true;
    for (let i = 0; i < count; i += 1) {
      const at = ops[i]!;
      const chunk = this.chunkOf(at);
      if (!chunk) {
        complete = false;
        continue;
      }
      const place = at - chunk.first;
      rank = Math.max(rank, chunk.from[place]!);
      moment = Math.max(moment, chunk.start[place]!);
      order[i] = rank;
      time[i] = moment;
      lastRank[i] = chunk.to[place]!;
      lastTime[i] = chunk.end[place]!;
    }
    if (!complete) return null;
    spread(order, lastRank, 1);
    spread(time, lastTime, (this.span('time')[1] / Math.max(1, this.timeline.ranks)) | 0 || 1);
    return { order, time, last: rank };
  }

  get hasMissed(): boolean {
    return this.missedOf.size > 0;
  }

  /** The operations before this one in the order that it did not see. */
  missed(at: number): ReadonlySet<number> {
    return this.missedOf.get(at) ?? NOTHING;
  }

  missedBy(at: number): readonly number[] {
    return this.missedFrom.get(at) ?? [];
  }

  /** What an operation saw of another. Null if it saw everything before it, or if their order is not known. */
  sight(from: number, at: number): Sight | null {
    const missed = this.missed(from);
    if (missed.size === 0 || from === at) return null;
    if (missed.has(at)) return 'missed';
    const [own, other] = [this.stepOf(from), this.stepOf(at)];
    if (own === null || other === null) return null;
    return other < own ? 'seen' : 'later';
  }

  /** The messages; null if there are none or they are not loaded yet. */
  messages(): Messages | null {
    if (this.sent || !this.timeline.messages) return this.sent;
    void this.loadOnce('messages', bytes => {
      this.sent = decodeMessages(bytes);
    });
    return null;
  }

  /** The steps that no operation shows, in order; empty if they are not loaded yet. */
  unlogged(): Unlogged[] {
    if (this.hidden || !this.timeline.unlogged) return this.hidden ?? [];
    void this.loadOnce('unlogged', bytes => {
      this.hidden = decodeUnlogged(bytes);
    });
    return [];
  }

  async ensureLog(): Promise<void> {
    this.messages();
    this.unlogged();
    await Promise.all(this.loads.values());
  }

  /** The place of the operation with this name; null if there is none. Loads the chunks that it searches. */
  async place(name: string): Promise<number | null> {
    const colon = name.lastIndexOf(':');
    const process = this.timeline.processes.indexOf(name.slice(0, colon));
    const digits = name.slice(colon + 1);
    if (colon < 0 || process < 0 || !/^\d+$/.test(digits)) return null;
    const index = Number(digits);
    // Indices of a process increase from chunk to chunk, so binary search finds the chunk. A chunk without operations
    // of the process gives no direction, so the next one is tried.
    let low = 0;
    let high = this.chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      let k = middle;
      let found: Loaded | null = null;
      for (; k < high; k += 1) {
        await this.loadChunk(k);
        const chunk = this.chunks.get(k);
        if (!chunk) return null;
        if (chunk.lanes[process]! < chunk.lanes[process + 1]!) {
          found = chunk;
          break;
        }
      }
      if (!found) {
        high = middle;
        continue;
      }
      const first = found.lanes[process]!;
      const end = found.lanes[process + 1]!;
      if (index < found.index[found.laneOps[first]!]!) high = middle;
      else if (index > found.index[found.laneOps[end - 1]!]!) low = k + 1;
      else {
        for (let i = first; i < end; i += 1) {
          const op = found.laneOps[i]!;
          if (found.index[op] === index) return found.first + op;
        }
        return null;
      }
    }
    return null;
  }

  /** Calls `visit` for every operation, in short tasks, loading them all. Stops when `stopped` returns true. */
  async scan(visit: (op: Op) => void, stopped: () => boolean = () => false): Promise<void> {
    let began = performance.now();
    for (let k = 0; k < this.chunks.length; k += 1) {
      await this.loadChunk(k);
      const chunk = this.chunks.get(k);
      if (!chunk) return;
      for (let i = 0; i < chunk.count; i += 1) {
        if (i % 64 === 0 && performance.now() - began > SLICE) {
          await pause();
          if (stopped()) return;
          began = performance.now();
        }
        visit(this.op(chunk.first + i)!);
      }
      if (stopped()) return;
    }
  }

  /** Loads as much as is kept in idle time, nearest to `at` first. */
  async loadAll(at: number): Promise<void> {
    const near = (k: number, size: number) => Math.abs((k + 0.5) * size - at);
    const nearest = (cache: Cache<unknown>, size: number) =>
      Array.from({ length: cache.length }, (_, k) => k)
        .sort((a, b) => near(a, size) - near(b, size))
        .slice(0, cache.most);
    const chunks = nearest(this.chunks, this.chunkSize);
    const orders = nearest(this.orders, this.orderSize);
    for (let i = 0; i < Math.max(chunks.length, orders.length); i += 1) {
      await idle();
      if (orders[i] !== undefined) await this.loadOrder(orders[i]!);
      if (chunks[i] !== undefined) await this.loadChunk(chunks[i]!);
      // The whole history needs the sums of all chunks at once, which would be a long task.
      const chunk = this.chunks.peek(chunks[i] ?? -1);
      if (chunk) sumsOf(chunk, 'order');
    }
  }

  /** The time at a rank, interpolated from the loaded data. */
  timeOf(rank: number): number {
    return this.convert(rank, 'order', 'time');
  }

  /** The rank at a time, interpolated from the loaded data. */
  rankOf(time: number): number {
    return this.convert(time, 'time', 'order');
  }

  /** The first and the last moment on a scale. Points need some room on both sides. */
  span(scale: Scale): [number, number] {
    if (this.hasPoints && scale === 'order') return [-0.5, this.timeline.ranks - 0.5];
    return [0, scale === 'order' ? Math.max(1, this.timeline.ranks) : this.lastTime];
  }

  private convert(value: number, from: Scale, to: Scale): number {
    const { chunks, ranks } = this.timeline;
    const field = (scale: Scale) => (scale === 'order' ? 'ranks' : 'times');
    let k = search(chunks.length, i => chunks[i]![field(from)][0] > value) - 1;
    if (k < 0) k = 0;
    const chunk = chunks[k];
    if (!chunk) return 0;
    const next = chunks[k + 1];
    let low = [chunk[field(from)][0], chunk[field(to)][0]] as const;
    const ends = { ranks, times: this.span('time')[1] };
    let high = next
      ? ([next[field(from)][0], next[field(to)][0]] as const)
      : ([ends[field(from)], ends[field(to)]] as const);
    const loaded = this.chunks.peek(k);
    if (loaded) {
      const [xs, ys] = from === 'order' ? [loaded.from, loaded.start] : [loaded.start, loaded.from];
      const i = search(loaded.count, i => xs[i]! > value) - 1;
      if (i >= 0) low = [xs[i]!, ys[i]!];
      if (i + 1 < loaded.count) high = [xs[i + 1]!, ys[i + 1]!];
    }
    if (high[0] <= low[0]) return low[1];
    return low[1] + ((value - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
  }

  private nameIn(chunk: Loaded, i: number): string {
    return `${this.timeline.processes[chunk.process[i]!]}:${chunk.index[i]}`;
  }

  private order(k: number): LoadedOrder | null {
    const order = this.orders.get(k);
    if (!order) void this.loadOrder(k);
    return order;
  }

  private loadChunk(k: number): Promise<void> {
    const { chunks, ranks, shapes } = this.timeline;
    const read = (bytes: Uint8Array) => this.addChunk(k, decodeChunk(bytes, chunks[k]!, ranks, shapes), null);
    return this.chunks.load(k, () => this.load(`chunk-${k}`, [], read));
  }

  private loadOrder(k: number): Promise<void> {
    const read = (bytes: Uint8Array) => {
      const first = this.timeline.orders[k]!.first;
      const steps = decodeOrder(bytes);
      for (let i = 0; i < steps.op.length; i += 1) {
        const at = steps.op[i]!;
        this.firsts[at] = Math.min(this.firsts[at] || Number.POSITIVE_INFINITY, first + i + 1);
        this.steps[at] = Math.max(this.steps[at]!, first + i + 1);
      }
      this.seen[k] = 1;
      this.orders.set(k, { first, ...steps, points: null });
    };
    return this.orders.load(k, () => this.load(`order-${k}`, this.query, read));
  }

  private loadOnce(name: string, read: (bytes: Uint8Array) => void): Promise<void> {
    const load = this.loads.get(name) ?? this.load(name, this.query, read);
    this.loads.set(name, load);
    return load;
  }

  /** Loads a part and reads it; an error becomes the problem of the history. */
  private async load(name: string, query: [string, string][], read: (bytes: Uint8Array) => void): Promise<void> {
    try {
      const bytes = await this.parts?.load(name, query);
      if (!bytes) return;
      read(bytes);
      this.version.value += 1;
    } catch (error) {
      this.problem.value = error instanceof Error ? error.message : String(error);
    }
  }

  private addChunk(k: number, columns: Columns, plain: Op[] | null): void {
    const first = this.timeline.chunks[k]!.first;
    const lanes = new Uint32Array(this.timeline.processes.length + 1);
    for (let i = 0; i < columns.count; i += 1) lanes[columns.process[i]! + 1]! += 1;
    for (let lane = 1; lane < lanes.length; lane += 1) lanes[lane]! += lanes[lane - 1]!;
    const next = lanes.slice();
    const laneOps = new Uint32Array(columns.count);
    for (let i = 0; i < columns.count; i += 1) {
      const lane = columns.process[i]!;
      laneOps[next[lane]!] = i;
      next[lane]! += 1;
    }
    this.chunks.set(k, { ...columns, first, lanes, laneOps, sums: { order: null, time: null }, plain });
  }
}

/** Loads the parts of `size` entries that contain the entries `from ..= to`; `load` ignores those that do not exist. */
function each(from: number, to: number, size: number, load: (k: number) => Promise<void>): Promise<unknown> {
  const first = Math.max(0, Math.floor(from / size));
  return Promise.all(Array.from({ length: Math.max(0, Math.floor(to / size) - first + 1) }, (_, i) => load(first + i)));
}

/** The beginnings and ends of the operations of a chunk on a scale. */
export function sidesOf(chunk: Columns, scale: Scale): [begins: ArrayLike<number>, ends: ArrayLike<number>] {
  return scale === 'order' ? [chunk.from, chunk.to] : [chunk.start, chunk.end];
}

/** Prefix sums of durations in the order of `laneOps`. Unfinished operations count 0. */
export function sumsOf(chunk: Loaded, scale: Scale): Float64Array {
  const known = chunk.sums[scale];
  if (known) return known;
  const sums = new Float64Array(chunk.count + 1);
  const [begins, ends] = sidesOf(chunk, scale);
  for (let i = 0; i < chunk.count; i += 1) {
    const op = chunk.laneOps[i]!;
    sums[i + 1] = sums[i]! + (chunk.end[op] === Number.POSITIVE_INFINITY ? 0 : ends[op]! - begins[op]!);
  }
  chunk.sums[scale] = sums;
  return sums;
}

/** Binary search: the first index in `from .. count` where `holds` is true, else `count`. `holds` must be monotonic. */
export function search(count: number, holds: (i: number) => boolean, from = 0): number {
  let low = from;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Spreads equal moments evenly. `unit` is the room for the last ones. */
function spread(moments: Float64Array, ends: Float64Array, unit: number): void {
  const count = moments.length;
  for (let i = 0; i < count; ) {
    const moment = moments[i]!;
    let end = i;
    let limit = Number.POSITIVE_INFINITY;
    while (end < count && moments[end] === moment) {
      limit = Math.min(limit, ends[end]!);
      end += 1;
    }
    limit = Math.min(limit, end < count ? moments[end]! : moment + unit);
    const room = Math.max(0, limit - moment);
    for (let j = i; j < end; j += 1) moments[j] = moment + ((j - i) / (end - i)) * room;
    i = end;
  }
}

function printed(shape: Shape, values: string[]): string {
  let text = shape.pieces[0] ?? '';
  for (let i = 1; i < shape.pieces.length; i += 1) text += values[i - 1] + shape.pieces[i]!;
  return text;
}

/** Yields to the browser. */
export function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve));
}

function idle(): Promise<void> {
  if (typeof requestIdleCallback === 'undefined') return pause();
  return new Promise(resolve => requestIdleCallback(() => resolve(), { timeout: 200 }));
}
