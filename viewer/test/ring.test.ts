// The geometry of a cycle: nodes stay inside the picture, and arrows stay away from the nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arc, type Point, ring } from '../src/data/ring.ts';

const distance = (a: Point, b: Point) => Math.hypot(a[0] - b[0], a[1] - b[1]);

test('nodes are inside the picture and apart', () => {
  for (const count of [2, 3, 6, 12]) {
    const points = ring(count, 420, 250, 27);
    assert.equal(points.length, count);
    for (const [x, y] of points) {
      assert.ok(x >= 26.9 && x <= 393.1 && y >= 26.9 && y <= 223.1, `${count}: ${x} ${y}`);
    }
    const gaps = points.map((point, at) => distance(point, points[(at + 1) % count]!));
    assert.ok(Math.min(...gaps) > 38, `${count}: ${gaps}`);
  }
});

test('arrows end before the nodes, and those of a pair take two ways', () => {
  const [a, b] = ring(2, 420, 250, 27) as [Point, Point];
  const there = arc(a, b, 22, true);
  const back = arc(b, a, 22, true);
  const ends = /^M(\S+) (\S+) Q\S+ \S+ (\S+) (\S+)$/.exec(there.path)!.slice(1).map(Number) as number[];
  assert.ok(Math.abs(distance([ends[0]!, ends[1]!], a) - 22) < 0.2);
  assert.ok(Math.abs(distance([ends[2]!, ends[3]!], b) - 22) < 0.2);
  assert.ok(distance(there.middle, back.middle) > 60);
  assert.ok(distance(arc(a, b, 22, false).middle, arc(b, a, 22, false).middle) < 0.2);
});
