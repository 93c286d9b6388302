// The smallest failing part: which operations overlap, what fits into a line, and the part as a trace.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operation, Report } from '../src/data/types.ts';
import { jsonLines, jsonOf } from '../src/export/jsonl.ts';
import { bands, columns } from '../src/panels/columns.ts';

const operation = (process: string, start: number, end: number | null): Operation => ({
  name: `${process}:0`,
  process,
  text: '',
  action: 'Enqueue',
  args: [{ name: 'elem', value: '4' }],
  results: [],
  start,
  end,
  meta: [],
});

/** Lines such as `T0 0-1`: the process, and the columns of its operation. */
function arranged(...operations: Operation[]): string[] {
  const { processes, placed } = columns(
    operations,
    operations.map((_, op) => op),
  );
  return placed.map(({ lane, from, to }) => `${processes[lane]} ${from}-${to}`);
}

test('operations share a column exactly if they overlap', () => {
  assert.deepEqual(
    arranged(operation('T1', 0, 5), operation('T0', 2, 9), operation('T1', 6, 7), operation('T2', 8, 12)),
    ['T1 0-0', 'T0 0-2', 'T1 1-1', 'T2 2-2'],
  );
  // Random intervals, against the definition.
  let state = 7;
  const random = (most: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * most);
  };
  for (let turn = 0; turn < 200; turn += 1) {
    const operations = Array.from({ length: 7 }, (_, at) => {
      const start = random(20);
      return operation(`T${at}`, start, random(5) === 0 ? null : start + random(8));
    });
    const { placed } = columns(
      operations,
      operations.map((_, op) => op),
    );
    const end = (op: number) => operations[op]!.end ?? Number.POSITIVE_INFINITY;
    for (const a of placed) {
      for (const b of placed) {
        const isBefore = end(a.op) < operations[b.op]!.start;
        assert.equal(a.to < b.from, isBefore, JSON.stringify([operations[a.op], operations[b.op]]));
      }
    }
  }
});

test('operations of one process that touch are in columns of their own', () => {
  assert.deepEqual(arranged(operation('T0', 0, 5), operation('T0', 5, 9), operation('T0', 9, 9)), [
    'T0 0-0',
    'T0 1-1',
    'T0 2-2',
  ]);
});

test('columns that do not fit beside each other go to further bands', () => {
  const operations = [0, 10, 20, 30].map(start => operation('T0', start, start + 5));
  const made = columns(operations, [0, 1, 2, 3]);
  const width = () => 100;
  assert.deepEqual(bands(made, width, 250), [
    { first: 0, last: 1 },
    { first: 2, last: 3 },
  ]);
  assert.deepEqual(bands(made, width, 50).length, 4);
  assert.deepEqual(bands(columns([], []), width, 50), []);
});

test('values become JSON of the trace format', () => {
  for (const [text, json] of [
    ['12345678901234567890', '12345678901234567890'],
    ['"a \\"b\\""', '"a \\"b\\""'],
    ['TRUE', 'true'],
    ['rm1', '"rm1"'],
    ['<<1, {2, 3}>>', '[1,{"#set":[2,3]}]'],
    ['[id |-> 7, tags |-> <<>>]', '{"id":7,"tags":[]}'],
    ['(0 :> "a" @@ 5 :> "b")', '{"#fun":[[0,"a"],[5,"b"]]}'],
  ] as const) {
    assert.equal(jsonOf(text), json);
  }
  assert.equal(jsonOf('<<1, 2, 3…'), null);
});

test('the smallest part is a trace', () => {
  const report = { operations: [operation('T0', 3, 8), operation('T1', 4, null)] } as Report;
  report.operations[0]!.results = [{ name: '', value: '5' }];
  assert.equal(
    jsonLines(report, [0, 1], op => (op === 0 ? { start: 0, end: 2 } : null)),
    '{"process":"T0","action":"Enqueue","start":0,"end":2,"args":{"elem":4},"results":[5]}\n' +
      '{"process":"T1","action":"Enqueue","start":4,"args":{"elem":4}}\n',
  );
});
