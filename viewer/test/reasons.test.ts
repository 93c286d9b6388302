// The parts of a page about a failure: values below an expression, links of a contradiction, spellings, tested operations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chain } from '../src/data/chain.ts';
import { History } from '../src/data/history.ts';
import { messageChanges, messageForm, spelled } from '../src/data/spelling.ts';
import { testedIn } from '../src/data/tested.ts';
import { tree } from '../src/data/tree.ts';
import type { Operation, RunHead } from '../src/data/types.ts';
import { stuckIn } from '../src/data/verdict.ts';
import { changesOf } from '../src/panels/legal.tsx';
import { parseValue } from '../src/panels/tla.ts';
import { queueParts } from './queue.ts';

test('values are below the parts of an expression', () => {
  const lines = tree(
    'ok = (key \\in DOMAIN dict)',
    [
      { text: 'key', value: '3' },
      { text: 'DOMAIN dict', value: '{1, 2, 4}' },
      { text: 'ok', value: 'TRUE' },
    ],
    40,
  );
  assert.deepEqual(lines, ['│     │       └ {1, 2, 4}', '│     └ 3', '└ TRUE']);
  // A name is not found within another one, and an expression that is too wide has no tree.
  assert.equal(tree('keys = 1', [{ text: 'key', value: '3' }], 40), null);
  assert.equal(tree('key = 1', [{ text: 'key', value: '3' }], 5), null);
  assert.deepEqual(
    tree(
      'i = ii',
      [
        { text: 'ii', value: '2' },
        { text: 'i', value: '1' },
      ],
      40,
    ),
    ['│   └ 2', '└ 1'],
  );
});

test('functions have one spelling', () => {
  assert.equal(spelled('(1 :> 10 @@ 2 :> 20)'), '1→10, 2→20');
  assert.equal(spelled('<<10, 20>>', true), '1→10, 2→20');
  assert.equal(spelled('<<10, 20>>'), '<<10, 20>>');
  assert.equal(spelled('<<>>', true), '(empty)');
  assert.equal(spelled('[box |-> (1 :> TRUE @@ 2 :> <<[a |-> 1]>>)]'), 'box→(1→TRUE, 2→<<[a→1]>>)');
});

test('messages have a short form', () => {
  const message = '[type |-> "AppendEntries", from |-> "n2", to |-> "n3", entries |-> <<7>>, log |-> [a |-> 1]]';
  assert.equal(messageForm(parseValue(message)), 'AppendEntries n2→n3, entries <<7>>');
  assert.deepEqual(messageChanges('<<>>', `(${message} :> 1)`), [
    { sign: '+', text: 'AppendEntries n2→n3, entries <<7>>' },
  ]);
  assert.equal(messageChanges(`{${message}}`, '{}')?.[0]?.sign, '−');
  assert.equal(messageChanges('{1}', '{2}'), null);
});

function operation(process: string, start: number, end: number, args: string[], results: string[]): Operation {
  const fields = (values: string[]) => values.map(value => ({ name: '', value }));
  const name = `${process}:${start}`;
  return {
    name,
    process,
    action: 'op',
    text: name,
    start,
    end,
    args: fields(args),
    results: fields(results),
    meta: [],
  };
}

test('a contradiction is a chain of its operations', () => {
  const operations = [
    operation('w', 0, 10, ['"x"', '1'], []),
    operation('w', 12, 20, ['"x"', '2'], []),
    operation('r', 21, 30, ['"x"'], ['2']),
    operation('s', 31, 40, ['"x"'], ['1']),
  ];
  const links = chain({ operations, order: 'real-time' }, [3, 2, 1, 0]);
  assert.deepEqual(
    links.map(({ from, to, kind }) => `${from} ${kind} ${to}`),
    ['0 process 1', '1 time 2', '1 value 2', '0 value 3', '2 time 3'],
  );
  // Without real time, only the order of each process is left.
  const weak = chain({ operations, order: 'program' }, [0, 1, 2, 3]);
  assert.deepEqual(
    weak.filter(({ kind }) => kind !== 'value'),
    [{ from: 0, to: 1, kind: 'process' }],
  );
});

test('overlaps and the median are those of all operations', async () => {
  const parts = queueParts({ operations: 3_000, processes: 4, fails: false, chunk: 500 });
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  const load = (name: string) => Promise.resolve(parts.get(name)!);
  const history = new History({ served: false, load }, head.timeline, head.report);
  assert.equal(testedIn(history), null);
  await history.ensure(0, 2_999);
  const ops: { start: number; end: number }[] = [];
  await history.scan(({ start, end }) => ops.push({ start, end: end! }));
  const overlapped = ops.filter((a, i) => ops.some((b, j) => i !== j && a.start < b.end && b.start < a.end)).length;
  const median = ops.map(({ start, end }) => end - start).sort((a, b) => a - b)[1500];
  assert.deepEqual(testedIn(history), { overlapped, median });
});

test('changes that make an operation legal come first', () => {
  const parts = queueParts({ operations: 400, processes: 4, fails: true });
  const { report } = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  const stuck = stuckIn(report)!;
  stuck.expected = [[{ name: '', value: '7' }], [{ name: '', value: '8' }]];
  stuck.expects_more = false;
  stuck.legal = { kind: 'earlier', until: 1 };
  stuck.what_ifs = [
    { assumption: { kind: 'dropped' }, outcome: { kind: 'rejected', blocked: null, explained: stuck.explained } },
    { assumption: { kind: 'other-results', results: [{ name: '', value: '7' }] }, outcome: { kind: 'accepted' } },
  ];
  const changes = changesOf(report, stuck);
  assert.deepEqual(
    changes.map(({ text, helps }) => `${helps ? '✓' : '✗'} ${text.replace(/`T.*`/, '…')}`),
    ['✓ if it had returned `8`', '✓ if it had returned `7`', '✓ before … took effect', '✗ without this operation'],
  );
  assert.equal(changes[1]!.result, 'all 400 explained');
});
