// Where the page opens: at the failure, also if a key is pressed before the data has loaded.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { History } from '../src/data/history.ts';
import type { RunHead } from '../src/data/types.ts';
import {
  blocked,
  head,
  history,
  NO_VIEWPORT,
  pan,
  scale,
  setScale,
  showOpening,
  viewport,
  zoom,
} from '../src/state.ts';
import { queueParts } from './queue.ts';

/** Loads a page up to the point where it is about to open at the failure. */
function load(operations: number): void {
  const parts = queueParts({ operations, processes: 4, fails: true });
  const run = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  head.value = run;
  const part = (name: string) => Promise.resolve(parts.get(name)!);
  history.value = new History({ served: false, load: part }, run.timeline, run.report);
}

beforeEach(() => {
  scale.value = 'order';
  viewport.value = NO_VIEWPORT;
});

test('keys that are pressed while the page loads do not keep it from opening at the failure', async () => {
  load(4_000);
  const opened = showOpening();
  setScale('time');
  zoom(0.7);
  pan(0.2);
  await opened;
  const stuck = history.value!.op(blocked.value!)!;
  const { from, to } = viewport.value;
  assert.equal(scale.value, 'time');
  assert.ok(from <= stuck.start && stuck.end! <= to, `${from} to ${to}`);
  assert.ok(to - from < history.value!.span('time')[1] / 10, 'not the whole history');
});

test('a short history is shown whole', async () => {
  load(28);
  await showOpening();
  assert.deepEqual([viewport.value.from, viewport.value.to], history.value!.span('order'));
});
