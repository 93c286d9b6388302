// Encoded parts decode to the same operations, orders and states, and lookups in them work.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeChunk, decodeOrder } from '../src/data/decode.ts';
import { History, type Op } from '../src/data/history.ts';
import type { Source } from '../src/data/parts.ts';
import { States } from '../src/data/states.ts';
import type { RunHead, Shape, States as StatesPart } from '../src/data/types.ts';
import { type Entry, encodeChunk, encodeOrder, splices } from './encode.ts';
import { queueParts } from './queue.ts';

interface Sample {
  head: RunHead;
  states: StatesPart;
  parts: Source & { asked: string[] };
}

function sample(operations: number, processes = 4): Sample {
  const bytes = queueParts({ operations, processes, fails: true });
  const json = (name: string) => JSON.parse(new TextDecoder().decode(bytes.get(name)));
  const asked: string[] = [];
  const load = (name: string) => {
    asked.push(name);
    const part = bytes.get(name);
    return part ? Promise.resolve(part) : Promise.reject(new Error(`no part \`${name}\``));
  };
  return { head: json('head'), states: json('states'), parts: { served: true, asked, load } };
}

function open({ head, parts }: Sample): History {
  return new History(parts, head.timeline, head.report);
}

test('chunks round-trip', () => {
  const shapes: Shape[] = [
    { action: 'Put', args: ['key'], results: [''], meta: ['node'], pieces: ['Put(', ') = ', ''] },
    { action: 'Get', args: [], results: [], meta: [], pieces: ['Get()'] },
  ];
  const large = 2 ** 53 - 1;
  const entries: Entry[] = [
    { process: 3, index: 7, shape: 0, values: [-5, 'a', 'ü…'], start: 100, end: 100, from: 10, to: 10 },
    { process: 0, index: 0, shape: 1, values: [], start: 100, end: null, from: 10, to: 99 },
    { process: 3, index: 8, shape: 0, values: [large, -large, 'a'], start: 2 ** 40, end: 2 ** 52, from: 12, to: 40 },
    { process: 3, index: 2, shape: 0, values: [4, 4, 'b'], start: 2 ** 40, end: 2 ** 52, from: 12, to: 40 },
  ];
  const chunk = { first: 0, count: 4, ranks: [10, 40] as [number, number], times: [100, 2 ** 52] as [number, number] };
  const columns = decodeChunk(encodeChunk(entries, 100, 10), chunk, 99, shapes);
  for (const [i, entry] of entries.entries()) {
    assert.deepEqual(
      {
        process: columns.process[i],
        index: columns.index[i],
        shape: columns.shape[i],
        values: columns.values(i),
        start: columns.start[i],
        end: columns.end[i] === Number.POSITIVE_INFINITY ? null : columns.end[i],
        from: columns.from[i],
        to: columns.to[i],
      },
      { ...entry, values: entry.values.map(String) },
    );
  }
});

test('truncated data is an error', () => {
  const bytes = encodeChunk([{ process: 0, index: 0, shape: 0, values: [], start: 0, end: 1, from: 0, to: 1 }], 0, 0);
  const chunk = { first: 0, count: 1, ranks: [0, 1] as [number, number], times: [0, 1] as [number, number] };
  const shapes = [{ action: '', args: [], results: [], meta: [], pieces: [''] }];
  for (let length = 0; length < bytes.length - 1; length += 1) {
    assert.throws(() => decodeChunk(bytes.subarray(0, length), chunk, 2, shapes), /truncated|expected/);
  }
});

test('orders round-trip', () => {
  const steps = [5, 0, 70_000, 3].map((op, i) => ({ op, partway: i % 2 === 1 }));
  const { op, partway } = decodeOrder(encodeOrder(steps));
  assert.deepEqual(
    steps,
    Array.from(op, (op, i) => ({ op, partway: partway[i] === 1 })),
  );
});

test('operations are loaded on demand', async () => {
  const data = sample(20_000);
  const history = open(data);
  assert.equal(history.op(17_000), null);
  await history.ensure(17_000, 17_000);
  assert.deepEqual(data.parts.asked, ['chunk-1']);
  assert.equal(history.version.value, 1);
  assert.match(history.op(17_000)!.text, /^(Enqueue\(\d+\)|Dequeue\(\d+\)|DequeueEmpty\(\))$/);
  const { head } = data;
  const mentioned = head.report.operations.map(operation => operation.name);
  await history.ensure(0, history.size - 1);
  assert.deepEqual(
    head.timeline!.mentioned.map(at => history.name(at)),
    mentioned,
  );
});

test('an operation is found by name', async () => {
  const data = sample(20_000);
  const history = open(data);
  const blocked = data.head.report.operations[0]!;
  assert.equal(await history.place(blocked.name), data.head.timeline!.mentioned[0]);
  assert.equal(await history.place('T1:0'), await first(open(data), 'T1:0'));
  for (const name of ['T1:99999', 'T9:0', 'T1', 'T1:x', '']) assert.equal(await history.place(name), null);
});

async function first(history: History, name: string): Promise<number | null> {
  let found: number | null = null;
  await history.scan((op: Op) => {
    if (found === null && op.name === name) found = op.at;
  });
  return found;
}

test('steps take effect in order and while their operations run', async () => {
  const history = open(sample(20_000));
  await history.ensure(0, history.size - 1);
  await history.ensureSteps(0, history.timeline.steps - 1);
  assert.ok(history.hasSteps(0, history.timeline.ranks));
  for (const scale of ['order', 'time'] as const) {
    let before = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < history.timeline.orders.length; k += 1) {
      const { first, op, points } = history.stepPoints(k)!;
      for (const [i, at] of op.entries()) {
        const point = points[scale][i]!;
        const { from, to, start, end } = history.op(at)!;
        const [begin, finish] = scale === 'order' ? [from, to] : [start, end!];
        assert.ok(point >= before && point >= begin && point <= finish, `step ${first + i} at ${point} on ${scale}`);
        assert.equal(history.stepOf(at), first + i);
        before = point;
      }
    }
  }
});

test('ranks and times convert both ways', async () => {
  const history = open(sample(2_000));
  await history.ensure(0, history.size - 1);
  for (const at of [0, 17, 1_000, 1_999]) {
    const { from, start } = history.op(at)!;
    assert.equal(history.timeOf(from), start);
    assert.equal(history.rankOf(start), from);
  }
});

test('a report without a timeline is a history too', () => {
  const { head, parts } = sample(200);
  const history = new History(parts, null, head.report);
  assert.equal(history.size, head.report.operations.length);
  for (const [i, operation] of head.report.operations.entries()) {
    const op = history.op(history.timeline.mentioned[i]!)!;
    assert.deepEqual([op.name, op.text], [operation.name, operation.text]);
  }
  assert.deepEqual(parts.asked, []);
});

test('states are found in any order of access', () => {
  const walk = Array.from({ length: 300 }, (_, i) => [`<<${'x'.repeat(i % 7)}>>`, String(i)]);
  const until = 250;
  const part: StatesPart = {
    variables: ['a', 'b'],
    watched: 0,
    first: 10,
    until,
    ids: walk.slice(10, until + 1).map((_, i) => `id${10 + i}`),
    last: walk[until]!,
    back: Array.from({ length: until - 10 }, (_, i) => splices(walk[10 + i + 1]!, walk[10 + i]!)),
    endings: [
      {
        steps: walk.slice(until + 1).map((_, i) => ({ op: i, partway: false })),
        ids: walk.slice(until + 1).map((_, i) => `id${until + 1 + i}`),
        forth: walk.slice(until + 1).map((state, i) => splices(walk[until + i]!, state)),
      },
    ],
  };
  const states = new States(part);
  for (const count of [250, 249, 64, 10, 11, 96, 255, 251, 299, 260, 200]) {
    assert.deepEqual(states.state(count, 0), walk[count]);
    assert.equal(states.id(count, 0), `id${count}`);
  }
  for (const count of [9, 300]) assert.equal(states.state(count, 0), null);
  assert.equal(states.state(251, 1), null);
  // An earlier range adds states, and changes nothing else.
  const endings = part.endings.map(({ steps }) => ({ steps, ids: [], forth: [] }));
  const early = { ...part, first: 2, until: 4, ids: ['id2', 'id3', 'id4'], last: walk[4]!, endings };
  const both = new States(part, new States({ ...early, back: [2, 3].map(i => splices(walk[i + 1]!, walk[i]!)) }));
  for (const count of [2, 3, 4, 10, 251, 299]) {
    assert.deepEqual(both.state(count, 0), walk[count]);
    assert.equal(both.id(count, 0), `id${count}`);
  }
  for (const count of [1, 5, 9]) assert.deepEqual([both.state(count, 0), both.id(count, 0)], [null, null]);
});

test('whether an operation has a step is known once its part is loaded', async () => {
  const history = open(sample(40_000));
  await history.ensure(0, history.size - 1);
  const { orders, steps } = history.timeline;
  assert.ok(orders.length > 2);
  const { from, to } = history.op(10)!;
  assert.equal(history.hasSteps(from, to), false);
  await history.ensureSteps(0, 0);
  assert.equal(history.hasSteps(from, to), true);
  const late = history.op(history.timeline.operations - 1)!;
  assert.equal(history.hasSteps(late.from, late.to), false);
  await history.ensureSteps(steps - 1, steps - 1);
  assert.equal(history.hasSteps(late.from, late.to), true);
  assert.equal(history.stepOf(20_000), null);
});
