// Decodes the binary parts: operations in columns, the steps of an order, messages and unlogged steps.
// Numbers are varints: groups of seven bits, lowest first. They may need 53 bits, so high groups are added, not
// shifted.

import type { Chunk, Shape } from './types.ts';

/** Operations in columns, indexed from the first operation of the chunk. */
export interface Columns {
  count: number;
  /** Since the origin. */
  start: Float64Array;
  /** Since the origin; infinity if the operation is unfinished. */
  end: Float64Array;
  /** The start as a rank. */
  from: Uint32Array;
  /** The end as a rank; one past the last rank if the operation is unfinished. */
  to: Uint32Array;
  process: Uint32Array;
  index: Uint32Array;
  shape: Uint32Array;
  /** The printed values of an operation: arguments, results, metadata. */
  values(at: number): string[];
}

export interface Steps {
  op: Uint32Array;
  partway: Uint8Array;
}

export interface Messages {
  send: Uint32Array;
  receive: Uint32Array;
  /** The largest number of operations between sending and receiving. */
  longest: number;
}

/** A step that no operation shows. */
export interface Unlogged {
  /** The number of steps of the order before it. */
  before: number;
  action: string;
}

class Reader {
  private readonly bytes: Uint8Array;
  private at: number;
  private readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  number(): number {
    let byte = this.next();
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = this.next();
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  column(): Reader {
    const length = this.number();
    const from = this.at;
    this.at += length;
    if (this.at > this.end) throw new Error('the page data is truncated');
    return new Reader(this.bytes, from, this.at);
  }

  text(decoder: TextDecoder): string {
    const length = this.number();
    const from = this.at;
    this.at += length;
    return decoder.decode(this.bytes.subarray(from, this.at));
  }

  private next(): number {
    if (this.at >= this.end) throw new Error('the page data is truncated');
    const byte = this.bytes[this.at]!;
    this.at += 1;
    return byte;
  }
}

type Nine = [Reader, Reader, Reader, Reader, Reader, Reader, Reader, Reader, Reader];

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Decodes the part `chunk-K`. `ranks` is the number of ranks. */
export function decodeChunk(bytes: Uint8Array, chunk: Chunk, ranks: number, shapes: Shape[]): Columns {
  const reader = new Reader(bytes);
  const count = reader.number();
  if (count !== chunk.count) throw new Error(`expected ${chunk.count} operations in the page data, found ${count}`);
  const [start, end] = [new Float64Array(count), new Float64Array(count)];
  const column = () => new Uint32Array(count);
  const [from, to, process, index, shape] = [column(), column(), column(), column(), column()];
  const columns = Array.from({ length: 9 }, () => reader.column()) as Nine;
  const [starts, durations, startRanks, spans, processes, indices, kinds, data, texts] = columns;
  let time = chunk.times[0];
  let rank = chunk.ranks[0];
  const expected = new Map<number, number>();
  for (let i = 0; i < count; i += 1) {
    time += starts.number();
    rank += startRanks.number();
    const duration = durations.number();
    const span = spans.number();
    const owner = processes.number();
    const place = (expected.get(owner) ?? 0) + unzigzag(indices.number());
    expected.set(owner, place + 1);
    start[i] = time;
    end[i] = duration === 0 ? Number.POSITIVE_INFINITY : time + duration - 1;
    from[i] = rank;
    to[i] = duration === 0 ? ranks : rank + span;
    process[i] = owner;
    index[i] = place;
    shape[i] = kinds.number();
  }
  const values = lazyValues(data, texts, shape, shapes);
  return { count, start, end, from, to, process, index, shape, values };
}

/** Decodes values on first use: a chunk that is only drawn small never needs them. */
function lazyValues(data: Reader, texts: Reader, shape: Uint32Array, shapes: Shape[]): (at: number) => string[] {
  let read: { first: Uint32Array; value: Float64Array; isText: Uint8Array; texts: string[] } | null = null;
  const widths = shapes.map(shape => shape.args.length + shape.results.length + shape.meta.length);
  return at => {
    read ??= readValues(data, texts, shape, widths);
    const { first, value, isText, texts: table } = read;
    const out: string[] = [];
    for (let i = first[at]!; i < first[at + 1]!; i += 1) {
      out.push(isText[i] ? (table[value[i]!] ?? '') : String(value[i]));
    }
    return out;
  };
}

function readValues(data: Reader, texts: Reader, shape: Uint32Array, widths: number[]) {
  const first = new Uint32Array(shape.length + 1);
  for (let i = 0; i < shape.length; i += 1) first[i + 1] = first[i]! + widths[shape[i]!]!;
  const total = first[shape.length]!;
  const value = new Float64Array(total);
  const isText = new Uint8Array(total);
  const before = widths.map(width => new Float64Array(width));
  for (let i = 0; i < shape.length; i += 1) {
    const previous = before[shape[i]!]!;
    for (let place = 0; place < previous.length; place += 1) {
      const number = data.number();
      const at = first[i]! + place;
      if (number % 2 === 0) {
        previous[place] = previous[place]! + unzigzag(number / 2);
        value[at] = previous[place]!;
      } else {
        value[at] = (number - 1) / 2;
        isText[at] = 1;
      }
    }
  }
  const decoder = new TextDecoder();
  const table = Array.from({ length: texts.number() }, () => texts.text(decoder));
  return { first, value, isText, texts: table };
}

export function decodeOrder(bytes: Uint8Array): Steps {
  const reader = new Reader(bytes);
  const count = reader.number();
  const op = new Uint32Array(count);
  const partway = new Uint8Array(count);
  let before = 0;
  for (let i = 0; i < count; i += 1) {
    const number = reader.number();
    partway[i] = number % 2;
    before += unzigzag(Math.floor(number / 2));
    op[i] = before;
  }
  return { op, partway };
}

export function decodeMessages(bytes: Uint8Array): Messages {
  const reader = new Reader(bytes);
  const count = reader.number();
  const send = new Uint32Array(count);
  const receive = new Uint32Array(count);
  let before = 0;
  let longest = 0;
  for (let i = 0; i < count; i += 1) {
    before += reader.number();
    const distance = unzigzag(reader.number());
    receive[i] = before;
    send[i] = before - distance;
    longest = Math.max(longest, Math.abs(distance));
  }
  return { send, receive, longest };
}

export function decodeUnlogged(bytes: Uint8Array): Unlogged[] {
  const reader = new Reader(bytes);
  const decoder = new TextDecoder();
  const actions = Array.from({ length: reader.number() }, () => reader.text(decoder));
  let before = 0;
  return Array.from({ length: reader.number() }, () => {
    before += reader.number();
    return { before, action: actions[reader.number()] ?? '' };
  });
}
