// Durations are counted exactly enough, and drawn with faults, outcomes and operations in flight.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History } from '../src/data/history.ts';
import { COLUMNS, Latency } from '../src/data/latency.ts';
import type { RunHead } from '../src/data/types.ts';
import { SvgPen } from '../src/export/svg.ts';
import type { Colors } from '../src/timeline/colors.ts';
import { drawLatency } from '../src/timeline/latency.ts';
import { queueParts } from './queue.ts';

async function gather(operations: number, change: (head: RunHead) => void = () => {}) {
  const parts = queueParts({ operations, processes: 8, fails: true, stops: true, chunk: 4096 });
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  change(head);
  const history = new History(
    { served: false, load: name => Promise.resolve(parts.get(name)!) },
    head.timeline,
    head.report,
  );
  await history.ensure(0, operations - 1);
  const latency = new Latency(history);
  for (const k of head.timeline!.chunks.keys()) latency.add(k, history.peek(k)!);
  return { history, latency };
}

test('figures agree with the durations', async () => {
  const { history, latency } = await gather(30_000);
  const durations: number[][] = latency.kinds.map(() => []);
  let open = 0;
  for (let at = 0; at < history.size; at += 1) {
    const op = history.op(at)!;
    if (op.end === null) open += 1;
    else durations[latency.kinds.indexOf(op.action)]!.push(op.end - op.start);
  }
  assert.equal(latency.added, 30_000);
  assert.equal(latency.isFew, false);
  assert.equal(latency.odd.length, open);
  let counted = 0;
  for (const [kind, all] of durations.entries()) {
    all.sort((a, b) => a - b);
    const { count, median, high, longest, open } = latency.figures(kind);
    counted += count;
    assert.equal(count, all.length + open);
    assert.equal(longest?.duration, all[all.length - 1]);
    const near = (found: number, exact: number) => Math.abs(found - exact) <= 0.05 * exact + 1;
    assert.ok(near(median, all[Math.floor(all.length * 0.5)]!), `median ${median}`);
    assert.ok(near(high, all[Math.floor(all.length * 0.99)]!), `99 % ${high}`);
  }
  assert.equal(counted, 30_000);
  for (let column = 0; column < COLUMNS; column += 1) {
    const figures = latency.inColumn(column, [0, 1])!;
    assert.ok(figures.median <= figures.high && figures.high <= figures.most);
  }
});

test('few operations are dots, many are lines', async () => {
  const drawn = async (operations: number) => {
    const { history, latency } = await gather(operations, ({ report }) => {
      report.clock = 'ns';
      const { start } = report.operations[0]!;
      report.history.events = [{ name: 'partition', start: start - 3000, end: start, text: '' }];
    });
    const pen = new SvgPen(900, 270);
    const colors = new Proxy({}, { get: (_, name) => String(name) }) as unknown as Colors;
    const kinds = latency.kinds.map((_, kind) => kind);
    const failing = [{ at: history.timeline.mentioned[0]!, label: '✗ T1:3' }];
    drawLatency(pen, { history, latency, colors, kinds, failing, width: 900, height: 270 });
    return pen.done();
  };
  const few = await drawn(600);
  for (const text of ['partition', 'unfinished', 'in flight', '✗ T1:3', '100 ns', '1 µs'])
    assert.ok(few.includes(`>${text}<`), text);
  assert.ok([...few.matchAll(/fill="kind[1-3]"/g)].length >= 590);
  const many = await drawn(30_000);
  for (const text of ['median', '99 %', 'max']) assert.ok(many.includes(`>${text}<`), text);
  assert.doesNotMatch(many, /fill="kind/);
});
