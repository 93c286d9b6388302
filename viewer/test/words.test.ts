// User-facing text: queries, links, values, Markdown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Report } from '../src/data/types.ts';
import { stuckIn, verdictView } from '../src/data/verdict.ts';
import { format, parse as parseLink } from '../src/link.ts';
import { markdown } from '../src/markdown.ts';
import { rows } from '../src/panels/columns.ts';
import { besideFailure, headline } from '../src/panels/headline.ts';
import { reasonText } from '../src/panels/outcome.ts';
import { columnsOf, parseValue, print } from '../src/panels/tla.ts';
import { checkAgain } from '../src/panels/words.ts';
import { type Candidate, matcher, parse } from '../src/search.ts';
import { brief, count, head, letter, lineOf, list, quoted, visible } from '../src/text.ts';
import { queueParts } from './queue.ts';

const DEQUEUE: Candidate = {
  name: 'T3:88',
  process: 'T3',
  action: 'Dequeue',
  text: 'Dequeue() = 49600',
  start: 1_000,
  end: 1_002_500,
  status: 'blocked',
  fields: [
    { name: 'elem', value: '49600' },
    { name: 'node', value: '"n1"' },
  ],
};

function finds(query: string): boolean | string {
  const read = parse(query, ['elem', 'node']);
  const others: Record<string, { start: number; end: number | null }> = {
    'T0:1': { start: 0, end: 10 },
    'T0:2': { start: 900, end: null },
    'T0:3': { start: 2_000_000, end: 2_000_001 },
  };
  const { test, errors } = matcher(read, name => others[name] ?? null);
  const wrong = [...read.errors, ...errors];
  return wrong.length > 0 ? wrong.join('; ') : test(DEQUEUE);
}

test('queries match', () => {
  for (const query of [
    'op:Dequeue val:49600 thread:3 status:blocked dur>1ms',
    'op:dequeue thread:T3',
    'node:n1',
    'elem:49600 -op:Enqueue',
    'T3:88',
    '"= 49600"',
    'after:T0:1 overlaps:T0:2 before:T0:3',
    'dur<=1001500ns',
    'status:block',
  ]) {
    assert.equal(finds(query), true, query);
  }
  for (const query of ['op:Enqueue', 'val:4960', 'thread:33', 'dur<1ms', 'before:T0:1', '-dequeue', 'status:waiting']) {
    assert.equal(finds(query), false, query);
  }
});

test('queries report errors', () => {
  assert.match(String(finds('colour:red')), /unrecognized key `colour`: expected op, val, .*, elem, node/);
  assert.match(String(finds('dur>soon')), /`soon` is not a duration/);
  assert.match(String(finds('status:odd')), /unrecognized status `odd`/);
  assert.match(String(finds('overlaps:T9:9')), /no operation `T9:9`/);
  assert.match(String(finds('op>3')), /unsupported comparison `>`: only `dur` can be compared/);
  assert.match(String(finds('op:')), /expected a value after `op:`/);
  assert.match(String(finds('"open')), /unclosed quote/);
});

test('links round-trip', () => {
  const link = {
    op: 'T0:12464',
    x: [199892, 199936] as [number, number],
    scale: 'time' as const,
    focus: ['T0:12 < T3:7', 'T3:7 = 1a2b3c4d'],
    tab: 'spec',
    ending: 2,
    q: 'op:Dequeue & "a b"',
    watch: ['Len(queue) + 1'],
  };
  const text = format(link);
  assert.ok(text.startsWith('v=1&op=T0:12464&x=199892-199936&scale=time&focus=T0:12'));
  assert.deepEqual(parseLink(`#${text}`), link);
});

test('invalid parts of links are ignored', () => {
  assert.deepEqual(parseLink('#x=5-2&scale=odd&ending=0&tab=<b>&step=-1&op=%E0%A4%A&v'), {
    focus: [],
    watch: [],
    op: '%E0%A4%A',
  });
});

test('invisible characters are written out', () => {
  assert.equal(visible('a\u202eb\u0000\n\ufeff'), 'a⟨U+202E⟩b⟨U+0000⟩⟨U+000A⟩⟨U+FEFF⟩');
  assert.equal(visible('\ud83d\ude00 \ud83d'), '\ud83d\ude00 ⟨U+D83D⟩');
  assert.equal(head('a\ud83d\ude00', 2), 'a');
  assert.equal(brief('x'.repeat(9), 4), 'xxxx…');
});

test('numbers and names', () => {
  assert.equal(count(1234567), '1,234,567');
  assert.deepEqual([0, 25, 26, 701, 702].map(letter), ['A', 'Z', 'AA', 'ZZ', 'AAA']);
  assert.equal(list(['A', 'B', 'C'], 2), 'A and 2 more');
  assert.equal(quoted("T'0:1 < T3:7"), `'T'\\''0:1 < T3:7'`);
  assert.deepEqual(lineOf('é\n/\\ x', 6), { line: 2, column: 4 });
});

test('values round-trip', () => {
  const check = (text: string) => assert.equal(print(parseValue(text)!), text);
  check('<<1, {"a b", <<>>}, -3>>');
  check('[pc |-> "wait", box |-> (1 :> TRUE @@ 2 :> FALSE)]');
  assert.equal(parseValue('<<1, 2'), null);
  assert.equal(parseValue('a b'), null);
  const table = parseValue('(1 :> [t |-> 1, v |-> 2] @@ 2 :> [t |-> 1, v |-> 3])');
  assert.ok(table?.kind === 'function');
  assert.deepEqual(columnsOf(table), ['t', 'v']);
});

function sample(): Report {
  const parts = queueParts({ operations: 400, processes: 4, fails: true });
  return JSON.parse(new TextDecoder().decode(parts.get('head'))).report as Report;
}

test('rows keep the order of each process, and only overlapping operations share one', () => {
  const { operations, ...report } = sample();
  const window = stuckIn({ operations, ...report })?.window;
  assert.ok(window);
  const { processes, rows: made } = rows(operations, window.operations);
  const seen = made.flatMap(row => row.cells.filter(op => op !== null));
  assert.deepEqual(
    [...seen].sort((a, b) => a - b),
    [...window.operations].sort((a, b) => a - b),
  );
  for (const { cells } of made) {
    const there = cells.flatMap(op => (op === null ? [] : [operations[op]!]));
    assert.ok(there.every(a => there.every(b => a.start <= (b.end ?? Number.POSITIVE_INFINITY))));
    assert.ok(cells.every((op, column) => op === null || operations[op]!.process === processes[column]));
  }
});

test('rows are sorted by start, whatever the order of the input', () => {
  const { operations, ...report } = sample();
  const window = stuckIn({ operations, ...report })?.window;
  assert.ok(window);
  const listed = rows(operations, window.operations);
  assert.deepEqual(rows(operations, window.operations.toReversed()), listed);
});

test('a contradiction needs no states', () => {
  const report = sample();
  const { verdict } = report;
  assert.ok(verdict.kind === 'rejected');
  assert.equal(verdictView(report).kind, 'stuck');
  const evidence = { kind: 'contradiction' as const, operations: [0, 1] };
  const bare = { ...verdict, blocked: [], evidence };
  assert.equal(verdictView({ ...report, verdict: bare }).kind, 'contradiction');
  assert.match(markdown({ ...report, verdict: bare }, [], null), /contradict each other, regardless of all others/);
});

test('reasons can follow `because`', () => {
  const report = sample();
  assert.equal(reasonText(report, { kind: 'dead' }), 'every order that continues with it gets stuck too');
  assert.match(reasonText(report, { kind: 'time', after: 0 }), /^it must wait for T\d+:\d+, which returned/);
});

test('assumptions become a command', () => {
  const report = sample();
  const check = (line: string) => {
    report.next = [{ what: '', line }];
    return checkAgain(report, ['T0:1 < T1:2']);
  };
  assert.equal(check('omnilink check --full Q.tla a.trace'), "omnilink check Q.tla a.trace --assume 'T0:1 < T1:2'");
  assert.equal(check('omnilink explain Q.tla a.trace'), "omnilink check Q.tla a.trace --assume 'T0:1 < T1:2'");
  assert.equal(
    check("omnilink check Q.tla a.trace --assume 'T0:1 < T1:2'"),
    "omnilink check Q.tla a.trace --assume 'T0:1 < T1:2'",
  );
  assert.equal(check('omnilink view a.trace'), null);
  // Assumptions of the report are kept, even if one is a prefix of another.
  assert.equal(
    check("omnilink check --full Q.tla a.trace --assume 'T3:7 = 1a' --assume 'T0:1 < T1:23'"),
    "omnilink check Q.tla a.trace --assume 'T3:7 = 1a' --assume 'T0:1 < T1:23' --assume 'T0:1 < T1:2'",
  );
});

test('Markdown lists the assumptions of the verdict, and every note', () => {
  const report = sample();
  report.notes = ['states with the same VIEW were taken for one', 'this holds for the orders that keep `T0:1 < T1:2`'];
  const text = markdown(report, ['T0:1 < T1:2'], null);
  assert.match(text, /Only orders consistent with these assumptions were considered: `T0:1 < T1:2`/);
  assert.match(text, /- Note: states with the same VIEW/);
  assert.equal(text.match(/T0:1 < T1:2/g)?.length, 1);
  report.verdict = { kind: 'accepted' };
  assert.match(markdown(report, ['T0:1 < T1:2'], null), /and that is consistent with the assumptions\./);
});

test('a run that failed is not headed by the verdict about its operations', () => {
  const report = sample();
  report.verdict = { kind: 'accepted' };
  assert.equal(headline(report, []).word, 'Accepted');
  for (const ended of ['data race: a read and a write of `head`', 'stuck: no thread is enabled', 'signal 6']) {
    const failed = { ...report, ended };
    const { sign, word, sentence, tone } = headline(failed, []);
    assert.deepEqual({ sign, sentence, tone }, { sign: '✗', sentence: '', tone: 'bad' });
    assert.equal(word, ended.charAt(0).toUpperCase() + ended.slice(1));
    assert.match(besideFailure(failed, null), /^An order of its operations is legal, which says nothing about this/);
    assert.doesNotMatch(markdown(failed, [], null), /Accepted|allows/);
  }
  const stopped = { kind: 'inconclusive' as const, limit: 'time' as const, stop: 'the time ran out' };
  const undecided = { ...report, ended: 'signal 6', verdict: stopped };
  assert.equal(headline(undecided, []).word, 'Signal 6');
  assert.match(besideFailure(undecided, null), /no verdict: the time ran out/);
  // A rejection says more than the end of its run.
  assert.equal(headline({ ...sample(), ended: 'signal 6' }, []).word, 'Rejected');
});

test('Markdown says why, and a trace cannot write in it', () => {
  const report = sample();
  assert.ok(report.verdict.kind === 'rejected');
  const text = markdown(report, [], null);
  assert.match(text, /^### ✗ Rejected: /);
  assert.match(text, /- ✗ `Head\(queue\) = elem`: `Head\(queue\)` is `\d+`/);
  report.verdict.sentence = 'T2 took 5 while *4* was in front of it';
  report.verdict.details = 'Nothing took 4 out.';
  assert.match(
    markdown(report, [], null),
    /^\*\*T2 took 5 while \\\*4\\\* was in front of it\*\* .*\n\nNothing took 4 out\.$/m,
  );
  report.verdict.sentence = '<img src=x> [a](b) `c`';
  for (const op of report.operations) op.text = 'a`b | c\n# d';
  const hostile = markdown(report, [], null);
  assert.match(hostile, /\\<img src=x\\> \\\[a\\\]\(b\) \\`c\\`/);
  assert.ok(!/^# d/m.test(hostile));
  const widths = hostile.split('\n').filter(line => line.startsWith('|'));
  assert.equal(new Set(widths.map(line => line.replace(/\\\|/g, '').split('|').length)).size, 1);
});
