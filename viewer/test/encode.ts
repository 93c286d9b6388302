// Encodes parts as Rust does, for tests and samples.

import type { Ending, Splice } from '../src/data/types.ts';

/** An operation to encode. */
export interface Entry {
  process: number;
  index: number;
  shape: number;
  values: (number | string)[];
  start: number;
  end: number | null;
  from: number;
  to: number;
}

class Writer {
  private readonly bytes: number[] = [];

  number(value: number): this {
    while (value >= 128) {
      this.bytes.push((value % 128) + 128);
      value = Math.floor(value / 128);
    }
    this.bytes.push(value);
    return this;
  }

  raw(bytes: ArrayLike<number>): this {
    for (let i = 0; i < bytes.length; i += 1) this.bytes.push(bytes[i]!);
    return this;
  }

  column(writer: Writer): this {
    return this.number(writer.bytes.length).raw(writer.bytes);
  }

  done(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.bytes);
  }
}

function zigzag(value: number): number {
  return value >= 0 ? 2 * value : -2 * value - 1;
}

/** Encodes the part `chunk-K`. `times` and `ranks` are the first ones of the chunk. */
export function encodeChunk(entries: Entry[], time: number, rank: number): Uint8Array<ArrayBuffer> {
  const columns = Array.from({ length: 9 }, () => new Writer());
  const [starts, durations, ranks, spans, processes, indices, shapes, values, texts] = columns as [
    Writer,
    Writer,
    Writer,
    Writer,
    Writer,
    Writer,
    Writer,
    Writer,
    Writer,
  ];
  const expected = new Map<number, number>();
  const before = new Map<string, number>();
  const table = new Map<string, number>();
  for (const entry of entries) {
    starts.number(entry.start - time);
    durations.number(entry.end === null ? 0 : entry.end - entry.start + 1);
    ranks.number(entry.from - rank);
    spans.number(entry.end === null ? 0 : entry.to - entry.from);
    processes.number(entry.process);
    indices.number(zigzag(entry.index - (expected.get(entry.process) ?? 0)));
    expected.set(entry.process, entry.index + 1);
    shapes.number(entry.shape);
    for (const [place, value] of entry.values.entries()) {
      const key = `${entry.shape} ${place}`;
      const number = typeof value === 'number' ? 2 * zigzag(value - (before.get(key) ?? 0)) : Number.POSITIVE_INFINITY;
      if (typeof value === 'number' && number <= Number.MAX_SAFE_INTEGER) {
        values.number(number);
        before.set(key, value);
        continue;
      }
      // Texts, and numbers too far from the previous one.
      const text = String(value);
      if (!table.has(text)) table.set(text, table.size);
      values.number(2 * table.get(text)! + 1);
    }
    time = entry.start;
    rank = entry.from;
  }
  texts.number(table.size);
  for (const text of table.keys()) {
    const bytes = new TextEncoder().encode(text);
    texts.number(bytes.length).raw(bytes);
  }
  const writer = new Writer().number(entries.length);
  for (const column of columns) writer.column(column);
  return writer.done();
}

/** Encodes the part `order-K`. */
export function encodeOrder(steps: Ending['steps']): Uint8Array<ArrayBuffer> {
  const writer = new Writer().number(steps.length);
  let before = 0;
  for (const { op, partway } of steps) {
    writer.number(2 * zigzag(op - before) + (partway ? 1 : 0));
    before = op;
  }
  return writer.done();
}

/** Encodes the part `messages`: pairs of sending and receiving operation. */
export function encodeMessages(messages: [send: number, receive: number][]): Uint8Array<ArrayBuffer> {
  const sorted = messages.toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
  const writer = new Writer().number(sorted.length);
  let before = 0;
  for (const [send, receive] of sorted) {
    writer.number(receive - before).number(zigzag(receive - send));
    before = receive;
  }
  return writer.done();
}

/** Encodes the part `unlogged`. */
export function encodeUnlogged(steps: { before: number; action: string }[]): Uint8Array<ArrayBuffer> {
  const actions = [...new Set(steps.map(({ action }) => action))];
  const writer = new Writer().number(actions.length);
  for (const action of actions) {
    const bytes = new TextEncoder().encode(action);
    writer.number(bytes.length).raw(bytes);
  }
  writer.number(steps.length);
  let last = 0;
  for (const { before, action } of steps) {
    writer.number(before - last).number(actions.indexOf(action));
    last = before;
  }
  return writer.done();
}

/** The splices that turn one state into another. */
export function splices(from: string[], to: string[]): Splice[] {
  const out: Splice[] = [];
  for (const [variable, old] of from.entries()) {
    const next = to[variable]!;
    if (old === next) continue;
    const most = Math.min(old.length, next.length);
    let front = 0;
    while (front < most && old[front] === next[front]) front += 1;
    let back = 0;
    while (back < most - front && old[old.length - 1 - back] === next[next.length - 1 - back]) back += 1;
    out.push([variable, front, back, next.slice(front, next.length - back)]);
  }
  return out;
}
