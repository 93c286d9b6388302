// Levels: what an operation missed is drawn and said, and a rejection whatever operations see is explained.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History } from '../src/data/history.ts';
import type { RunHead } from '../src/data/types.ts';
import { verdictView } from '../src/data/verdict.ts';
import { SvgPen } from '../src/export/svg.ts';
import { markdown } from '../src/markdown.ts';
import { drawLanes, type Picture } from '../src/timeline/draw.ts';
import { arrange } from '../src/timeline/lanes.ts';
import { missedLines } from '../src/timeline/missed.ts';
import { measure } from '../src/timeline/scene.ts';
import { LEVEL, MISSED, MISSING, missedParts, viewsParts } from './level.ts';

async function open(parts: Map<string, Uint8Array<ArrayBuffer>>): Promise<{ history: History; head: RunHead }> {
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  const load = (name: string) => Promise.resolve(parts.get(name)!);
  const history = new History({ served: false, load }, head.timeline, head.report);
  await history.ensure(0, history.size - 1);
  await history.ensureSteps(0, history.timeline.steps - 1);
  return { history, head };
}

function draw(history: History, { report }: RunHead, selection: number | null): string {
  const lanes = arrange(history, report, [], false);
  const [from, to] = history.span('order');
  const geometry = measure(history, lanes, { width: 1464, height: 140, scroll: 0 }, { from, to }, 'order');
  const picture: Picture = {
    history,
    report,
    lanes,
    geometry,
    colors: new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Picture['colors'],
    pins: [],
    selection,
    step: null,
    blocked: null,
    failing: [],
    endings: [],
    ending: 0,
    allEndings: false,
    matches: null,
    contradicting: [],
    note: '',
    statusOf: () => 'placed',
  };
  const pen = new SvgPen(geometry.width, geometry.height);
  drawLanes(pen, picture);
  return pen.done();
}

test('an operation missed, saw or could not see each of the others', async () => {
  const { history } = await open(missedParts());
  const at = history.opAtStep(MISSING)!;
  const sights = Array.from({ length: history.timeline.steps }, (_, step) =>
    history.sight(at, history.opAtStep(step)!),
  );
  const expected = sights.map((_, step) => (MISSED.includes(step) ? 'missed' : step < MISSING ? 'seen' : 'later'));
  assert.deepEqual(sights, expected.with(MISSING, null as never));
  // All others saw everything before them.
  assert.equal(history.sight(history.opAtStep(MISSING + 1)!, at), null);
});

test('tooltips name the operations that missed others and were missed', async () => {
  const { history } = await open(missedParts());
  const at = history.opAtStep(MISSING)!;
  const missed = MISSED.map(step => history.opAtStep(step)!);
  const name = history.name(at)!;
  assert.deepEqual(missedLines(history, at, null), [`missed ${missed.map(other => history.name(other)).join(', ')}`]);
  for (const other of missed) assert.deepEqual(missedLines(history, other, at), [`missed by ${name}`]);
  assert.deepEqual(missedLines(history, history.opAtStep(0)!, at), []);
});

test('an operation that missed others has a dot, and shades the others when it is selected', async () => {
  const { history, head } = await open(missedParts());
  const at = history.opAtStep(MISSING)!;
  const number = (svg: string, pattern: RegExp) => svg.match(pattern)?.length ?? 0;
  const dot = /width="6" height="6" rx="3" fill="#bg"/g;
  const dashed = /<rect [^>]*stroke="#muted"[^>]*stroke-dasharray="3 3"/g;
  const outlined = /<rect [^>]*stroke="#accent" stroke-width="1"/g;
  const plain = draw(history, head, null);
  assert.deepEqual(
    [dot, dashed, outlined].map(pattern => number(plain, pattern)),
    [1, 0, 0],
  );
  const shaded = draw(history, head, at);
  const seen = MISSING - MISSED.length;
  assert.deepEqual(
    [dot, dashed, outlined].map(pattern => number(shaded, pattern)),
    [1, MISSED.length, seen],
  );
  assert.doesNotMatch(shaded, /NaN|undefined|Infinity/);
});

test('Markdown says at which level, and what operations may see', async () => {
  const { head } = await open(viewsParts());
  assert.equal(verdictView(head.report).kind, 'views');
  const text = markdown(head.report, [], null);
  assert.ok(text.startsWith(`### ✗ Rejected at the level \`${LEVEL}\`: `), text);
  assert.match(text, /- it may miss operations that overlap it\n- it has to see `T\d+:\d+ .*`, and 37 before\n/);
  assert.match(text, /- it has to see nothing\n- it may miss nothing\n- there is no state that it may see\n/);
  assert.match(text, /At the level `weak` the history is accepted\./);
  const { head: accepted } = await open(missedParts());
  assert.match(
    markdown(accepted.report, [], null),
    /Accepted at the level .*after the operations that it saw\.\n\n- `T\d+:/s,
  );
});
