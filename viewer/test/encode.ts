// Writes parts as Rust writes them, for tests and samples.

import type { Ending, Splice } from '../src/data/types.ts';

/** An operation as it is written. */
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

  big(value: bigint): this {
    while (value >= 128n) {
      this.bytes.push(Number(value % 128n) + 128);
      value /= 128n;
    }
    this.bytes.push(Number(value));
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

function bigZigzag(value: bigint): bigint {
  return value >= 0n ? 2n * value : -2n * value - 1n;
}

/** The part `chunk-K`. `times` and `ranks` are the first ones of the chunk. */
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
      if (typeof value === 'number') {
        const key = `${entry.shape} ${place}`;
        values.big(2n * bigZigzag(BigInt(value) - BigInt(before.get(key) ?? 0)));
        before.set(key, value);
      } else {
        if (!table.has(value)) table.set(value, table.size);
        values.number(2 * table.get(value)! + 1);
      }
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

/** The part `order-K`. */
export function encodeOrder(steps: Ending['steps']): Uint8Array<ArrayBuffer> {
  const writer = new Writer().number(steps.length);
  let before = 0;
  for (const { op, partway } of steps) {
    writer.number(2 * zigzag(op - before) + (partway ? 1 : 0));
    before = op;
  }
  return writer.done();
}

/** What turns one state into another. */
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
