// Diffs of printed values.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diff } from '../src/data/diff.ts';
import { ARROW, fit, isReplacement } from '../src/data/fit.ts';

/** Writes removed parts as `-…-` and added ones as `+…+`. The pieces must make up both texts. */
function check(before: string, after: string, expected: string): void {
  const pieces = diff(before, after);
  const side = (kind: string) =>
    pieces
      .filter(piece => piece.kind === 'same' || piece.kind === kind)
      .map(piece => piece.text)
      .join('');
  assert.equal(side('removed'), before);
  assert.equal(side('added'), after);
  const mark = { same: '', removed: '-', added: '+' };
  assert.equal(pieces.map(({ text, kind }) => mark[kind] + text + mark[kind]).join(''), expected);
}

test('elements are added and removed', () => {
  check('<<1, 2, 3>>', '<<2, 3>>', '<<-1, -2, 3>>');
  check('<<1, 2>>', '<<1, 2, 3>>', '<<1, 2+, 3+>>');
  check('<<>>', '<<7>>', '<<+7+>>');
  check('(4 :> 30)', '(4 :> 30 @@ 5 :> 10)', '(4 :> 30+ @@ 5 :> 10+)');
  check('{1, 5, 9}', '{1, 7, 9}', '{1, -5-+7+, 9}');
});

test('nested values are compared recursively', () => {
  check('[a |-> 1, b |-> <<1, 2>>]', '[a |-> 1, b |-> <<2>>]', '[a |-> 1, b |-> <<-1, -2>>]');
  check('(1 :> "x" @@ 2 :> "y")', '(1 :> "x" @@ 2 :> "z")', '(1 :> "x" @@ 2 :> -"y"-+"z"+)');
  check('<<<<1>>, <<2>>>>', '<<<<1>>, <<2, 3>>>>', '<<<<1>>, <<2+, 3+>>>>');
});

test('brackets in strings do not count', () => {
  check('{"a,}", "b"}', '{"a,}"}', '{"a,}"-, "b"-}');
  check('{"\\"}", 1}', '{"\\"}", 2}', '{"\\"}", -1-+2+}');
});

test('any text can be compared', () => {
  check('same', 'same', 'same');
  check('12', '<<', '-12-+<<+');
  check('(a) + (b)', '(a) + (c)', '-(a) + (b)-+(a) + (c)+');
  check('', 'x', '+x+');
  check('<<1, >>', '<<1>>', '<<1-, ->>');
});

test('long values are not compared element by element', () => {
  const long = (from: number, to: number) =>
    `<<${Array.from({ length: to - from }, (_, i) => `"element ${from + i}"`).join(', ')}>>`;
  const kinds = (before: string, after: string) => diff(before, after).map(piece => piece.kind);
  assert.deepEqual(kinds(long(0, 20_000), long(0, 20_001)), ['same', 'added', 'same']);
  assert.deepEqual(kinds(long(0, 20_000), long(1, 20_001)), ['same', 'removed', 'added', 'same']);
});

test('the change stays visible', () => {
  const before = `{[tx |-> "t1", says |-> "yes"], [tx |-> "t2", says |-> "no"]}`;
  const after = `{[tx |-> "t1", says |-> "yes"], [tx |-> "t2", says |-> "no"], [tx |-> "t4", says |-> "abort"]}`;
  for (const width of [14, 30, 60, 200]) {
    const shown = fit(diff(before, after), width);
    const text = shown.map(piece => piece.text).join('');
    assert.ok(text.length <= width, `${text} is longer than ${width}`);
    const added = shown.find(piece => piece.kind === 'added')!.text;
    assert.match(added, width < 40 ? /^, .*….*\]$/ : /^, \[tx \|-> "t4", says \|-> "abort"\]$/);
  }
  const words = fit(diff('[rm1 |-> "working", rm2 |-> "x"]', '[rm1 |-> "prepared", rm2 |-> "x"]'), 32);
  assert.deepEqual(
    words.map(piece => piece.text),
    ['…|-> ', '"working"', '"prepared"', ', rm…'],
  );
});

test('an arrow separates the old value from the new', () => {
  const shown = (before: string, after: string, width: number) =>
    fit(diff(before, after), width)
      .map(({ text }, at, pieces) => (isReplacement(pieces, at) ? ARROW + text : text))
      .join('');
  assert.equal(shown('26', '33', 80), '26 → 33');
  assert.equal(shown('nil', '1', 80), 'nil → 1');
  assert.equal(shown('{1, 5, 9}', '{1, 7, 9}', 80), '{1, 5 → 7, 9}');
  assert.equal(shown('{1, 5, 6}', '{1, 7}', 80), '{1, 5, 6 → 7}');
  assert.equal(shown('[a |-> 1, b |-> 2]', '[a |-> 3, b |-> 2]', 80), '[a |-> 1 → 3, b |-> 2]');
  // Additions and removals alone need none.
  assert.equal(shown('<<1>>', '<<1, 2>>', 80), '<<1, 2>>');
  // The old value is cut before the new one, and the arrow counts.
  const narrow = shown('"a long old value"', '"new value"', 20);
  assert.match(narrow, /^"a.*… *.*" → "new value"$/);
  assert.ok(narrow.length <= 20, narrow);
  assert.equal(shown('"working"', '"prepared"', 14), '… → "prepared"');
});
