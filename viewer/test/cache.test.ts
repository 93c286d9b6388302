// A long history is never in memory as a whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache } from '../src/data/cache.ts';
import { History } from '../src/data/history.ts';
import type { RunHead } from '../src/data/types.ts';
import { arrange } from '../src/timeline/lanes.ts';
import { compose, measure } from '../src/timeline/scene.ts';
import { queueParts } from './queue.ts';

test('the least recently used part is dropped', async () => {
  const cache = new Cache<string>(5, 3);
  const kept = () => [0, 1, 2, 3, 4].filter(k => cache.peek(k) !== null);
  for (const k of [0, 1, 2]) cache.set(k, `part ${k}`);
  assert.equal(cache.get(0), 'part 0');
  cache.set(3, 'part 3');
  assert.deepEqual(kept(), [0, 2, 3]);
  let loads = 0;
  const load = async (k: number) => {
    loads += 1;
    await Promise.resolve();
    cache.set(k, `part ${k}`);
  };
  // One that was dropped is loaded again, once for several requests.
  await Promise.all([cache.load(1, () => load(1)), cache.load(1, () => load(1)), cache.load(3, () => load(3))]);
  assert.equal(loads, 1);
  assert.deepEqual(kept(), [0, 1, 3]);
});

/** 610 parts, as of 10 million operations, but small ones. */
function open() {
  const parts = queueParts({ operations: 610 * 8, processes: 4, fails: true, stops: true, chunk: 8 });
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  const asked: string[] = [];
  const load = (name: string) => {
    asked.push(name);
    return Promise.resolve(parts.get(name)!);
  };
  const history = new History({ served: false, load }, head.timeline, head.report);
  const loaded = () => head.timeline!.chunks.filter((_, k) => history.peek(k) !== null).length;
  return { head, history, asked, loaded };
}

test('at most 128 of 610 chunks are in memory', async () => {
  const { history, loaded } = open();
  await history.loadAll(history.size);
  assert.equal(loaded(), 128);
  const names = new Set<string>();
  await history.scan(op => names.add(op.name));
  assert.equal(names.size, history.size);
  assert.equal(loaded(), 128);
  // What was dropped is there again when it is needed.
  await history.ensure(0, 7);
  assert.equal(history.op(0)?.index, 0);
  await history.ensureSteps(0, history.timeline.steps - 1);
  await history.ensureSteps(0, 0);
  assert.notEqual(history.opAtStep(0), null);
  assert.equal(history.hasSteps(0, history.timeline.ranks), true);
});

test('a picture never needs more chunks than are kept', async () => {
  const { head, history, asked, loaded } = open();
  const lanes = arrange(history, head.report, [], false);
  const size = { width: 1064, height: 200, scroll: 0 };
  const [from, to] = history.span('order');
  const whole = () => compose(history, lanes, measure(history, lanes, size, { from, to }, 'order'));
  assert.equal(whole().isVast, true);
  assert.ok(asked.length <= 4, asked.join(' '));
  // The last 60 chunks are drawn from operations, and after they have loaded, nothing more is requested.
  const view = { from: history.timeline.chunks[550]!.ranks[0], to };
  const part = () => compose(history, lanes, measure(history, lanes, size, view, 'order'));
  for (let turn = 0; turn < 40; turn += 1) {
    part();
    await new Promise(resolve => setTimeout(resolve));
  }
  const before = asked.length;
  const scene = part();
  assert.equal(scene.isVast, false);
  assert.deepEqual(scene.missing, []);
  assert.equal(asked.length, before);
  assert.ok(loaded() <= 128);
});
