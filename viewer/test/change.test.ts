// Changes as paths, and spellings of one value.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes, isSame } from '../src/data/change.ts';
import { parseValue } from '../src/panels/tla.ts';

function shown(before: string, after: string): string[] | null {
  return (
    changes(before, after)?.map(({ path, before, after }) => `${path}: ${before ?? '(none)'} → ${after ?? '(none)'}`) ??
    null
  );
}

test('a change inside a long value is a path', () => {
  const open = (z: number) => `(0 :> [sees |-> [x |-> 1, z |-> ${z}], outdated |-> {}] @@ 4 :> [sees |-> [x |-> 7]])`;
  assert.deepEqual(shown(open(0), open(1)), ['[0].sees.z: 0 → 1']);
  assert.deepEqual(shown('[rm |-> "working", tm |-> "init"]', '[rm |-> "prepared", tm |-> "done"]'), [
    '.rm: "working" → "prepared"',
    '.tm: "init" → "done"',
  ]);
  assert.deepEqual(shown('("n 1" :> 0 @@ "n2" :> 0)', '("n 1" :> 1 @@ "n2" :> 0)'), ['["n 1"]: 0 → 1']);
  assert.deepEqual(shown('<<5, 6, 7>>', '<<5, 8, 7>>'), ['[2]: 6 → 8']);
});

test('keys that are added and removed', () => {
  assert.deepEqual(shown('(0 :> "a")', '(0 :> "a" @@ 1 :> "b")'), ['[1]: (none) → "b"']);
  assert.deepEqual(shown('(0 :> "a" @@ 1 :> "b")', '(1 :> "b")'), ['[0]: "a" → (none)']);
  // The domain becomes 1..2, and the spelling changes with it.
  assert.deepEqual(shown('(0 :> "a" @@ 1 :> "b" @@ 2 :> "c")', '<<"b", "c">>'), ['[0]: "a" → (none)']);
});

test('spellings of one function are equal', () => {
  const same = (a: string, b: string) => isSame(parseValue(a)!, parseValue(b)!);
  assert.ok(same('(1 :> "a" @@ 2 :> "b")', '<<"a", "b">>'));
  assert.ok(same('("x" :> 1)', '[x |-> 1]'));
  assert.ok(same('{1, <<2>>}', '{(1 :> 2), 1}'));
  assert.ok(!same('(0 :> "a" @@ 1 :> "b")', '<<"a", "b">>'));
  assert.ok(!same('{1, 2}', '<<1, 2>>'));
  assert.deepEqual(shown('(1 :> "a" @@ 2 :> "b")', '<<"a", "b">>'), []);
});

test('a comparison of the texts shows more', () => {
  for (const [before, after] of [
    ['<<1, 2>>', '<<1, 2, 3>>'],
    ['<<3, 4, 5>>', '<<4, 5, 6>>'],
    ['{1}', '{1, 2}'],
    ['0', '1'],
    ['[a |-> 1, b |-> 1, c |-> 1, d |-> 1]', '[a |-> 2, b |-> 2, c |-> 2, d |-> 2]'],
    ['not a value (', '1'],
  ] as const) {
    assert.equal(changes(before, after), null, before);
  }
});
