// Logs: messages and unlogged steps round-trip and are drawn, and logged values are compared with the specification.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessages, decodeUnlogged } from '../src/data/decode.ts';
import { History } from '../src/data/history.ts';
import type { Assumption, Report, RunHead } from '../src/data/types.ts';
import { entryAt, placeOfStep } from '../src/data/unlogged.ts';
import { SvgPen } from '../src/export/svg.ts';
import { markdown } from '../src/markdown.ts';
import { compareLogged, plainField } from '../src/panels/compare.ts';
import { jsonText } from '../src/panels/logged.tsx';
import { assumptionText } from '../src/panels/words.ts';
import { drawLanes, type Picture } from '../src/timeline/draw.ts';
import { arrange } from '../src/timeline/lanes.ts';
import { compose, hit, measure, toX, toY } from '../src/timeline/scene.ts';
import { encodeMessages, encodeUnlogged } from './encode.ts';
import { BLOCKED, logParts, MESSAGES, UNLOGGED } from './log.ts';

async function open(): Promise<{ history: History; head: RunHead }> {
  const parts = logParts();
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  const load = (name: string) => Promise.resolve(parts.get(name)!);
  const history = new History({ served: false, load }, head.timeline, head.report);
  await history.ensure(0, 6);
  await history.ensureSteps(0, BLOCKED - 1);
  await history.ensureLog();
  return { history, head };
}

function picture(history: History, head: RunHead, from: number, to: number): Picture {
  const lanes = arrange(history, head.report, [], false);
  const geometry = measure(history, lanes, { width: 1064, height: 140, scroll: 0 }, { from, to }, 'order');
  return {
    history,
    report: head.report,
    lanes,
    geometry,
    colors: new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Picture['colors'],
    pins: [],
    selection: null,
    step: null,
    blocked: BLOCKED,
    failing: [],
    endings: [],
    ending: 0,
    allEndings: false,
    matches: null,
    contradicting: [],
    note: '',
    statusOf: at => (at === BLOCKED ? 'blocked' : at < BLOCKED ? 'placed' : 'after'),
  };
}

test('messages and unlogged steps round-trip', () => {
  const { send, receive, longest } = decodeMessages(
    encodeMessages([
      [7, 900_000],
      [5, 2],
      [1, 2],
    ]),
  );
  assert.deepEqual([...send], [1, 5, 7]);
  assert.deepEqual([...receive], [2, 2, 900_000]);
  assert.equal(longest, 899_993);
  const steps = [...UNLOGGED, { before: 300, action: 'Löse' }];
  assert.deepEqual(decodeUnlogged(encodeUnlogged(steps)), steps);
});

test('other histories have neither', async () => {
  const { head } = await open();
  const { messages, unlogged, ...timeline } = head.timeline!;
  const asked: string[] = [];
  const load = (name: string) => {
    asked.push(name);
    return Promise.resolve(logParts().get(name)!);
  };
  const history = new History({ served: false, load }, timeline, head.report);
  await history.ensureLog();
  assert.equal(history.messages(), null);
  assert.deepEqual(history.unlogged(), []);
  assert.deepEqual([messages, unlogged, asked], [3, 3, []]);
});

test('events are points with their names, apart from each other', async () => {
  const { history, head } = await open();
  assert.ok(history.hasPoints);
  const [from, to] = history.span('order');
  const { lanes, geometry } = picture(history, head, from, to);
  const { boxes, marks } = compose(history, lanes, geometry);
  assert.deepEqual([boxes.length, marks.length], [7, 0]);
  for (const { at, x, row, point } of boxes) {
    assert.ok(x > geometry.left + 20 && x < geometry.width - 20);
    assert.ok(point && point.room > 100 && point.wide >= point.room);
    const y = toY(geometry, row) + geometry.lane / 2;
    assert.equal(hit(history, lanes, geometry, x, y), at);
    assert.equal(hit(history, lanes, geometry, x + 40, y), at, 'the name of an event belongs to it');
  }
  // From afar, only an event without others near it in its lane is drawn by itself.
  assert.deepEqual(
    compose(history, lanes, { ...geometry, from: -2000, to: 2000 }).boxes.map(({ at }) => at),
    [2],
  );
});

test('messages are arrows, and unlogged steps are dashed', async () => {
  const { history, head } = await open();
  const draw = (from: number, to: number) => {
    const drawn = picture(history, head, from, to);
    const pen = new SvgPen(drawn.geometry.width, drawn.geometry.height);
    const scene = drawLanes(pen, drawn);
    return { svg: pen.done(), scene, geometry: drawn.geometry };
  };
  const whole = draw(-0.5, 6.5);
  const heads = (svg: string) => svg.match(/<polyline [^>]*fill="#muted"/g)?.length ?? 0;
  assert.equal(heads(whole.svg), MESSAGES.length);
  assert.match(whole.svg, /TMRcvPrepared /);
  assert.match(whole.svg, /✗ TMCommit/);
  assert.equal(whole.svg.match(/stroke-dasharray="2 2"/g)?.length, UNLOGGED.length);
  const steps = whole.scene.hidden;
  assert.deepEqual(
    steps.map(({ at }) => UNLOGGED[at]!.action),
    ['Lose', 'Lose', 'Restart'],
  );
  const between = (x: number, first: number) => x > toX(whole.geometry, first) && x < toX(whole.geometry, first + 1);
  assert.ok(between(steps[0]!.x, 1) && between(steps[1]!.x, 1) && steps[0]!.x < steps[1]!.x);
  assert.ok(between(steps[2]!.x, 4));
  assert.doesNotMatch(whole.svg, /NaN|undefined|Infinity/);
  // A message with one end in the picture is drawn.
  assert.equal(heads(draw(3.5, 4.5).svg), 1);
});

test('the list has a row for every unlogged step', () => {
  const rows = Array.from({ length: 8 }, (_, place) => entryAt(UNLOGGED, place));
  assert.deepEqual(
    rows.map(({ step, unlogged }) => unlogged?.action ?? step),
    [0, 1, 'Lose', 'Lose', 2, 3, 4, 'Restart'],
  );
  assert.deepEqual(
    [0, 1, 2, 4].map(step => placeOfStep(UNLOGGED, step)),
    [0, 1, 4, 6],
  );
});

test('logged values are compared with the state', () => {
  const check = (value: unknown, given: string, process = 'n1') => {
    const printed = typeof value === 'object' && value !== null ? JSON.stringify(JSON.stringify(value)) : value;
    const field = { name: 'v', value: typeof printed === 'string' ? printed : JSON.stringify(printed) };
    const { compared } = compareLogged([field], process, ['u', 'v'], ['0', given]);
    return compared.map(
      ({ what, logged, differs }) => `${differs ? '≠' : differs === null ? '?' : '='} ${what} ${logged}`,
    );
  };
  assert.deepEqual(check(3, '3'), ['= v 3']);
  assert.deepEqual(check(3, '4'), ['≠ v 3']);
  assert.deepEqual(check('"Leader"', '"Leader"'), ['= v "Leader"']);
  assert.deepEqual(check('"n1"', 'n1'), ['= v n1']);
  assert.deepEqual(check([1, 2], '<<1, 2>>'), ['= v <<1, 2>>']);
  assert.deepEqual(check([2, 1, 3], '{1, 2}'), ['≠ v {1, 2, 3}']);
  assert.deepEqual(check([{ b: 1, a: true }], '{[a |-> TRUE, b |-> 1]}'), ['= v {[a |-> TRUE, b |-> 1]}']);
  assert.deepEqual(check({ n1: 1, n2: 2 }, '("n1" :> 1 @@ "n2" :> 3)'), ['≠ v ("n1" :> 1 @@ "n2" :> 2)']);
  assert.deepEqual(check(1, '(n1 :> 1 @@ n2 :> 3)'), ['= v[n1] 1']);
  assert.deepEqual(check(1, '("n1" :> 1 @@ "n2" :> 3)', 'n2'), ['≠ v["n2"] 1']);
  assert.deepEqual(check('"[{cut …', '{}'), ['? v "[{cut …']);
});

test('updates are compared with what they change', () => {
  const check = (update: unknown, given: string) => {
    const field = { name: 'v', value: JSON.stringify(JSON.stringify([update])) };
    const { what, logged, differs } = compareLogged([field], 'tm', ['v'], [given]).compared[0]!;
    return `${differs ? '≠' : differs === null ? '?' : '='} ${what} ${logged}`;
  };
  const states = '("rm-0" :> "prepared" @@ "rm-1" :> "working")';
  assert.equal(check({ op: 'Update', path: ['rm-0'], args: ['prepared'] }, states), '= v["rm-0"] "prepared"');
  assert.equal(check({ op: 'Update', path: ['rm-1'], args: ['prepared'] }, states), '≠ v["rm-1"] "prepared"');
  assert.equal(check({ op: 'Update', path: ['rm-9'], args: ['prepared'] }, states), '≠ v["rm-9"] Update "prepared"');
  assert.equal(check({ op: 'AddElement', path: [], args: ['b'] }, '{"a", "b"}'), '= v with "b"');
  assert.equal(check({ op: 'RemoveElement', path: [], args: ['b'] }, '{"a", "b"}'), '≠ v without "b"');
  assert.equal(check({ op: 'Clear', path: [] }, '{}'), '? v Clear');
});

test('values of rules are compared with parts of variables', () => {
  const check = (name: string, value: string, given: string) => {
    const fields = [
      { name: 'term', value: '7' },
      { name, value: JSON.stringify(value) },
    ];
    const { compared, others } = compareLogged(fields, 'n1', ['term'], [given]);
    assert.deepEqual(
      others.map(field => field.name),
      name === "term'" ? ['term'] : [],
    );
    const { what, logged, differs } = compared.at(-1)!;
    return `${differs ? '≠' : differs === null ? '?' : '='} ${what} ${logged}`;
  };
  assert.equal(check(`term["n1"]'`, '1', '[n1 |-> 1, n2 |-> 2]'), '= term["n1"] 1');
  assert.equal(check(`term["n2"]'`, '{}', '("n1" :> {} @@ "n2" :> {1})'), '≠ term["n2"] {}');
  assert.equal(check(`term["n1"].at[2]'`, '"x"', '[n1 |-> [at |-> <<0, "x">>]]'), '= term["n1"].at[2] "x"');
  assert.equal(check(`term'`, '<<1>>', '<<1>>'), '= term <<1>>');
  assert.equal(check(`term["n9"]'`, '1', '[n1 |-> 1]'), '? term["n9"] 1');
});

test('fields without a variable are kept', () => {
  const vc = { name: 'vc', value: JSON.stringify('{"tm":1}') };
  const { compared, others } = compareLogged([vc], 'tm', ['v'], ['0']);
  assert.deepEqual([compared, others], [[], [vc]]);
  assert.equal(plainField(vc.value), '{"tm":1}');
  assert.equal(plainField('"plain"'), '"plain"');
});

test('a line of a log is shown field by field, with all digits', () => {
  const text = '{"name":"a, b","ts":1794865571833535072,"log":[1,2],"cut":"x...';
  assert.equal(jsonText(text), '{"name":"a, b",\n"ts":1794865571833535072,\n"log":[1,2],\n"cut":"x...');
});

test('assumptions about events have words', () => {
  const parts = logParts();
  const { report } = JSON.parse(new TextDecoder().decode(parts.get('head'))) as { report: Report };
  const words = (assumption: Assumption) => assumptionText(report, assumption);
  assert.equal(words({ kind: 'event-dropped', event: 0 }), 'without `tm TMCommit`');
  assert.equal(
    words({ kind: 'step-inserted', action: 'Lose', before: 0 }),
    'with a step `Lose` that is not in the log, before `tm TMCommit`',
  );
  assert.equal(words({ kind: 'not-complete', variable: 'msgs' }), 'if `msgs` may change without an event');
  assert.equal(
    words({ kind: 'other-field', event: 0, field: 'tmState = "init"' }),
    'if the log of `tm TMCommit` had `tmState = "init"`',
  );
  assert.equal(
    words({ kind: 'field-ignored', event: 0, field: 'term = 1' }),
    'without the condition `term = 1` on `tm TMCommit`',
  );
  assert.equal(words({ kind: 'exchanged', first: 0, second: 0 }), 'with `tm TMCommit` after `tm TMCommit`');
  assert.match(markdown(report, [], null), /- without \\`tm TMCommit\\`: the whole history is accepted/);
});
