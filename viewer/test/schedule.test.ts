// The schedule of a controlled run: accesses, sources, what waits for what.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accessesOf,
  accessOf,
  allowing,
  operationsOf,
  raceSentence,
  statementOf,
  stuckSentence,
  variableOf,
  waitsOf,
} from '../src/data/schedule.ts';
import type { InterleavedStep, Interleaving, Run } from '../src/data/types.ts';

test('a statement is its access, without the declaration', () => {
  for (const [line, access] of [
    ['const std::size_t at = head.load();', 'head.load()'],
    ['let mut first = self.0.load(SeqCst);', 'self.0.load()'],
    ['let node = self.free.pop(&self.nodes).unwrap_or_else(|| self.used.fetch_add(1, SeqCst));', 'used.fetch_add(1)'],
    ['self.nodes[node].elem.store(elem, SeqCst);', 'nodes[node].elem.store(elem)'],
    ['match self.0.compare_exchange(first, node, SeqCst, SeqCst) {', 'self.0.compare_exchange(first, node)'],
    ['slots[at] = 0;', 'slots[at] = 0'],
    ['int64_t elem = slots[at]; // old', 'slots[at]'],
    ['return value;', 'value'],
    ['x = head.load(std::memory_order_acquire);', 'head.load(std::memory_order_acquire)'],
    ['if (head.load() == tail.load()) {', 'if (head.load() == tail.load()) {'],
  ] as const) {
    assert.equal(accessOf(line), access);
  }
});

const step = (text: string, does: string, value?: string): InterleavedStep => ({
  number: 1,
  thread: 0,
  kind: 'inside',
  text,
  does,
  value: value ?? null,
});

test('values are those before and after', () => {
  const effect = (text: string, does: string, value?: string) => statementOf(step(text, does, value)).effect;
  assert.equal(effect('tail.fetch_add(1);', 'updates', '0'), '0 → 1');
  assert.equal(effect('tail.fetch_sub(2, SeqCst);', 'updates', '0'), '0 → -2');
  assert.equal(effect('slots[0].exchange(7);', 'updates', '3'), '3 → 7');
  assert.equal(effect('x.compare_exchange_strong(old, 5);', 'updates', '3'), '3 → 5');
  assert.equal(effect('x.fetch_add(n);', 'updates', '3'), 'was 3');
  assert.equal(effect('x.compare_exchange(a, b)', 'updates', '3, unchanged'), '= 3, unchanged');
  assert.equal(effect('head.load();', 'loads', '0'), '= 0');
  assert.equal(effect('head.store(n);', 'stores', '4'), '← 4');
  assert.deepEqual(statementOf(step('', 'locks #1')), { code: 'locks #1', effect: '' });
  const call: InterleavedStep = { number: 1, thread: 0, kind: 'return', text: 'put(arg0: 1, arg1: 2) = result: 3' };
  assert.equal(statementOf(call).code, 'put(1, 2) = 3');
  assert.equal(statementOf({ ...call, text: '"Take|TakeEmpty"()' }).code, 'Take|TakeEmpty()');
});

const schedule = (of: Partial<Interleaving>): Interleaving => ({
  threads: ['T0', 'T1', 'T2'],
  steps: [],
  total: 40,
  preemptions: 1,
  ...of,
});

test('threads that wait name the lock, the operation that holds it and the line', () => {
  const steps: InterleavedStep[] = [
    { number: 14, thread: 1, kind: 'call', text: 'Get()' },
    { number: 15, thread: 1, kind: 'inside', text: '', does: 'locks #1' },
    { number: 19, thread: 2, kind: 'call', text: 'Add()' },
    { number: 20, thread: 2, kind: 'inside', text: '', does: 'locks #2' },
  ];
  const waits = [
    'main joins #3 at drive.hpp:380',
    'T1 locks #2, held by T2 at a/main.cpp:22',
    'T2 locks #1, held by T1',
  ];
  const found = waitsOf(schedule({ steps, waits }));
  assert.deepEqual(found[0], {
    thread: 'T1',
    does: 'locks #2',
    lock: '#2',
    place: 'a/main.cpp:22',
    operation: 'Get()',
    since: 15,
    holder: { thread: 'T2', operation: 'Add()', step: 20 },
  });
  assert.match(stuckSentence(found), /^T1 and T2 wait for each other/);
  assert.equal(
    stuckSentence(found.slice(0, 1)),
    'T1 waits in `Get()` (main.cpp:22) for a lock that `Add()` of T2 never released',
  );
  assert.deepEqual(operationsOf(schedule({ steps })), ['T1:0', 'T1:0', 'T2:0', 'T2:0']);
});

test('a thread that waits for itself has an earlier operation that kept the lock', () => {
  const steps: InterleavedStep[] = [
    { number: 1, thread: 0, kind: 'call', text: 'get()' },
    { number: 2, thread: 0, kind: 'inside', text: '', does: 'locks #1' },
    { number: 3, thread: 0, kind: 'return', text: 'get()' },
    { number: 4, thread: 0, kind: 'call', text: 'take()' },
  ];
  const waits = waitsOf(schedule({ steps, waits: ['T0 locks #1, held by T0 at small.hpp:33'] }));
  assert.equal(
    stuckSentence(waits),
    'T0 waits in `take()` (small.hpp:33) for a lock that its own earlier `get()` never released',
  );
});

const race = (lines: string[], does: [string, string], steps: InterleavedStep[] = []) => {
  const accesses = does.map((does, at) => ({
    thread: at + 1,
    operation: `T${at + 1}:3 Op${at}()`,
    does,
    after_step: 10 + at,
    stack: [`void Queue::op${at}(Session&) at main.cpp:${at + 1}`, 'crew at include/omnilink/drive.hpp:377'],
  }));
  const sources = [{ path: 'main.cpp', first: 1, lines }];
  return accessesOf({ race: { accesses } } as unknown as Run, schedule({ sources, steps }));
};

test('a data race names the variable that both lines have', () => {
  const both = race(['slots[at] = 0;', 'slots[slot] = elem + 1;'], ['writes', 'writes']);
  assert.equal(raceSentence(both), 'on `slots[…]`: T1 and T2 both write it, and nothing orders the two writes');
  assert.equal(variableOf(race(['value = value + 1;', 'return value;'], ['writes', 'reads'])), 'value');
  assert.equal(variableOf(race(['this->slots[0].n += n;', 'auto n = slots[0].n;'], ['writes', 'reads'])), 'slots[0].n');
  assert.equal(
    raceSentence(race(['hits++;', 'return hits;'], ['writes', 'reads'])),
    'on `hits`: T1 writes it, T2 reads it, and nothing orders the two',
  );
  // The index is the value that the operation read before.
  const read = (thread: number, line: number, value: string): InterleavedStep[] => [
    { number: 8, thread, kind: 'call', text: 'Op()' },
    { number: 9, thread, kind: 'inside', text: '', does: 'updates', value, place: `main.cpp:${line}` },
  ];
  const lines = ['slots[at] = 0;', 'slots[slot] = elem + 1;', 'auto at = head.load();', 'slot = tail.fetch_add(1);'];
  const indexed = (value: string) =>
    variableOf(race(lines, ['writes', 'writes'], [...read(1, 3, '0'), ...read(2, 4, value)]));
  assert.equal(indexed('0'), 'slots[0]');
  assert.equal(indexed('1'), 'slots[…]');
  assert.match(raceSentence(race(['', ''], ['writes', 'reads'])), /^T1 writes the same memory, T2 reads it/);
  assert.match(raceSentence(race(['', ''], ['reads', 'frees'])), /^T1 reads memory that T2 frees/);
  const [first] = both;
  assert.deepEqual([first!.frames.length, first!.folded, first!.thread], [1, 1, 'T1']);
  assert.equal(allowing(both), '[[harness.races]]\nbetween = ["Queue::op0", "Queue::op1"]\nreason = "…"');
});
