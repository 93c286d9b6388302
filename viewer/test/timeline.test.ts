// The timeline drops no operation, and a picture has at most as many marks as it has room for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History, type Scale } from '../src/data/history.ts';
import { shortName } from '../src/data/short.ts';
import type { RunHead } from '../src/data/types.ts';
import { SvgPen } from '../src/export/svg.ts';
import { round } from '../src/timeline/axis.ts';
import { drawLanes, type Picture } from '../src/timeline/draw.ts';
import { arrange } from '../src/timeline/lanes.ts';
import { compose, hit, measure, toX, toY } from '../src/timeline/scene.ts';
import { queueParts } from './queue.ts';

async function open(
  operations: number,
  processes: number,
  stops = false,
): Promise<{ history: History; head: RunHead }> {
  const parts = queueParts({ operations, processes, fails: true, stops });
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  const load = (name: string) => Promise.resolve(parts.get(name)!);
  const history = new History({ served: false, load }, head.timeline, head.report);
  await history.ensure(0, operations - 1);
  await history.ensureSteps(0, operations - 1);
  return { history, head };
}

function view(history: History, head: RunHead, from: number, to: number, scale: Scale = 'order') {
  const lanes = arrange(history, head.report, [], false);
  const size = { width: 1064, height: 20 + 24 * lanes.shown.length + 40, scroll: 0 };
  return { lanes, geometry: measure(history, lanes, size, { from, to }, scale) };
}

test('a picture of the whole history contains all operations', async () => {
  const { history, head } = await open(20_000, 8, true);
  for (const scale of ['order', 'time'] as const) {
    const [from, to] = history.span(scale);
    const { lanes, geometry } = view(history, head, from, to, scale);
    const { boxes, marks } = compose(history, lanes, geometry);
    const shown = boxes.length + marks.reduce((sum, mark) => sum + mark.count, 0);
    assert.equal(shown, 20_000);
    assert.ok(boxes.length + marks.length <= 11_000, `${boxes.length} boxes and ${marks.length} marks`);
  }
});

test('visible operations are those that overlap the viewport', async () => {
  const { history, head } = await open(20_000, 8, true);
  const stops = new Set(history.timeline.long);
  for (const [from, to] of [
    [10_000, 10_040],
    [32_760, 32_775],
    [37_000, 50_000],
  ] as const) {
    const { lanes, geometry } = view(history, head, from, to);
    const found = compose(history, lanes, geometry)
      .boxes.map(box => box.at)
      .sort((a, b) => a - b);
    const expected: number[] = [];
    await history.scan(op => {
      const wide = op.end === null || op.to - op.from >= (1.2 * (to - from)) / 1000;
      if (op.from <= to && op.to >= from && wide) expected.push(op.at);
    });
    assert.deepEqual(found, expected);
    for (const at of found) {
      const op = history.op(at)!;
      const middle = (Math.max(op.from, from) + Math.min(op.to, to)) / 2;
      const y = toY(geometry, lanes.rows[op.process]!) + 9;
      if (!stops.has(at) && to - from < 100) assert.equal(hit(history, lanes, geometry, toX(geometry, middle), y), at);
    }
  }
});

test('idle lanes are hidden if there are many', async () => {
  const { history, head } = await open(4_000, 64);
  const all = arrange(history, head.report, [], false);
  const few = arrange(history, head.report, [63], true);
  assert.deepEqual(
    all.shown.toSorted((a, b) => a - b),
    Array.from({ length: 64 }, (_, i) => i),
  );
  assert.equal(few.shown[0], 63);
  assert.equal(few.shown.length + few.hidden, 64);
  assert.ok(few.hidden > 0);
});

test('only the last steps are involved in the failure', async () => {
  const { history, head } = await open(4_000, 64);
  const { verdict, operations } = head.report;
  assert.ok(verdict.kind === 'rejected' && verdict.evidence.kind === 'stuck');
  const stuck = verdict.evidence;
  // With a single interpretation, a report contains all steps from the beginning.
  const blocked = { op: verdict.blocked[0]!, partway: false };
  const all = history.timeline.processes.map(process => ({
    op: operations.push({ ...operations[0]!, process }) - 1,
    partway: false,
  }));
  const hiddenAfter = (recent: typeof all) => {
    const evidence = { ...stuck, interpretations: [{ state: 0, recent }] };
    return arrange(history, { ...head.report, verdict: { ...verdict, evidence } }, [], true).hidden;
  };
  const last = Array.from({ length: 8 }, () => blocked);
  assert.equal(hiddenAfter([...all, ...last]), hiddenAfter([]));
  assert.ok(hiddenAfter([]) > 0);
});

/** The picture between two moments as SVG. The operation of the report that is mentioned first is blocked. */
function draw(history: History, head: RunHead, from: number, to: number, failing: number[] = []): string {
  const { lanes, geometry } = view(history, head, from, to);
  const blocked = history.timeline.mentioned[0]!;
  const picture: Picture = {
    history,
    report: head.report,
    lanes,
    geometry,
    colors: new Proxy({}, { get: () => 'red' }) as Picture['colors'],
    pins: [],
    selection: null,
    step: null,
    blocked,
    failing,
    endings: [],
    ending: 0,
    allEndings: false,
    matches: null,
    contradicting: [],
    note: '',
    statusOf: place => (place === blocked || failing.includes(place) ? 'blocked' : 'placed'),
  };
  const pen = new SvgPen(geometry.width, geometry.height);
  drawLanes(pen, picture);
  return pen.done();
}

test('a picture can be written as SVG', async () => {
  const { history, head } = await open(300, 3);
  const { from } = history.op(history.timeline.mentioned[0]!)!;
  const svg = draw(history, head, from - 8, from + 8);
  assert.match(svg, /✗ Dequeue \d+/);
  assert.equal(svg.match(/<g /g)?.length, svg.match(/<\/g>/g)?.length);
  assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
});

test('a label that does not fit into the frame of the blocked operation is beside it', async () => {
  const { history, head } = await open(24, 4);
  const blocked = history.op(history.timeline.mentioned[0]!)!;
  const [first, last] = history.span('order');
  const { geometry } = view(history, head, first, last);
  const svg = draw(history, head, first, last);
  const texts = [...svg.matchAll(/<text x="([\d.]+)"[^>]*>([^<]*)</g)].map(([, x, text]) => ({ x: Number(x), text }));
  const label = texts.find(({ text }) => text === shortName(blocked));
  assert.ok(label && texts.some(({ text }) => text === '✗'), texts.map(({ text }) => text).join('\n'));
  const [left, right] = [toX(geometry, blocked.from), toX(geometry, blocked.to)];
  const end = label.x + label.text!.length * 6.9;
  assert.ok(label.x > right || end < left, `${label.x} to ${end} in ${left} to ${right}`);
});

test('labels beside the frames of neighbours do not overlap', async () => {
  const { history, head } = await open(60, 2);
  const value = (text: string, pattern: RegExp) => Number(pattern.exec(text)![1]);
  for (let at = 0; at + 2 < 60; at += 1) {
    const op = history.op(at)!;
    const next = await history.place(`T${op.process}:${op.index + 1}`);
    if (next === null) continue;
    for (const room of [20, 30, 40]) {
      const svg = draw(history, head, op.from - room, op.from + room, [at, next]);
      const labels = [...svg.matchAll(/<text [^>]*font-weight="600"[^>]*>[^<]*/g)].map(([text]) => text);
      // One label is always drawn, and may cover others.
      const always = shortName(history.op(history.timeline.mentioned[0]!)!);
      const places = labels
        .filter(text => !text.endsWith(always))
        .map(text => ({
          text,
          y: value(text, / y="([\d.]+)"/),
          from: value(text, /<text x="(-?[\d.]+)"/),
          length: text.slice(text.indexOf('>') + 1).length * 6.9,
        }));
      for (const a of places) {
        for (const b of places) {
          if (a === b || a.y !== b.y || a.from > b.from) continue;
          assert.ok(a.from + a.length <= b.from + 1, `${a.text} overlaps ${b.text}`);
        }
      }
    }
  }
});

test('an unfinished operation has no end, and says so', async () => {
  const { history, head } = await open(900, 40, true);
  const at = history.timeline.long[0]!;
  const op = history.op(at)!;
  const [, last] = history.span('order');
  const svg = draw(history, head, op.from - 4, Math.min(last, op.from + 60));
  assert.match(svg, />unfinished</);
  const finished = await open(900, 40);
  assert.doesNotMatch(draw(finished.history, finished.head, op.from - 4, op.from + 60), />unfinished</);
});

test('outcomes are drawn and named differently', async () => {
  const { history, head } = await open(900, 40, true);
  const at = history.timeline.long[0]!;
  const op = history.op(at)!;
  const [, last] = history.span('order');
  const { report } = head;
  const [operation] = report.operations;
  const outcomeOf = (change: Partial<RunHead['report']>) =>
    new History(null, null, { ...report, ...change }).outcomeOf(0);
  for (const outcome of ['unfinished', 'blocked', 'failed'] as const) {
    const end = outcome === 'failed' ? operation!.start + 20 : null;
    assert.equal(outcomeOf({ operations: [{ ...operation!, outcome, end }] }), outcome);
  }
  // In an execution in which no thread is enabled, whatever did not return waits for ever.
  const ended = 'stuck: no thread is enabled';
  assert.equal(outcomeOf({ ended, operations: [{ ...operation!, end: null }] }), 'blocked');
  const [from, to] = [op.from - 4, Math.min(last, op.from + 60)];
  const plain = draw(history, head, from, to);
  head.timeline!.mentioned[0] = at;
  report.operations[0]!.outcome = 'blocked';
  const parts = queueParts({ operations: 900, processes: 40, fails: true, stops: true });
  const load = (name: string) => Promise.resolve(parts.get(name)!);
  const marked = new History({ served: false, load }, head.timeline, report);
  await marked.ensure(0, 899);
  await marked.ensureSteps(0, 899);
  const svg = draw(marked, head, from, to);
  assert.match(svg, />waits for ever</);
  assert.doesNotMatch(plain, />waits for ever</);
});

test('where operations are too many to be drawn, the number in flight is', async () => {
  const { history, head } = await open(20_000, 8);
  const [first, last] = history.span('order');
  const whole = draw(history, head, first, last);
  assert.match(whole, />operations in flight: /);
  assert.match(whole, />✗ T\d+:\d+ Dequeue\(\d+\)</);
  assert.match(whole, />8<\/text>/);
  // The line has the mean, which is less than the number of processes.
  const line = /<polyline points="([^"]{500,})"/.exec(whole)![1]!;
  const heights = line.split(' ').map(point => Number(point.split(',')[1]));
  assert.ok(Math.min(...heights) > 22 + 26, 'the mean stays below the maximum');
  assert.doesNotMatch(whole, /NaN|Infinity/);
  const part = draw(history, head, 20_000, 20_040);
  assert.doesNotMatch(part, />operations in flight: /);
  assert.match(part, /Enqueue/);
});

test('text in SVG is inert', () => {
  const pen = new SvgPen(10, 10);
  pen.text(0, 0, '</text><script>&"\u0000', { fill: 'red' });
  assert.match(pen.done(), />&lt;\/text&gt;&lt;script&gt;&amp;&quot;\ufffd<\/text>/);
});

test('numbers on the axis are round', () => {
  assert.deepEqual([0.2, 1, 1.5, 3, 7, 11, 450, 999_999].map(round), [1, 1, 2, 5, 10, 20, 500, 1_000_000]);
});
