// Assumptions have the semantics of the check, and an operation is placed only if an order contains it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keeps, read, type Way, write } from '../src/data/assumption.ts';
import { type Facts, type Status, statusFrom, unplaced } from '../src/data/status.ts';

test('blanks around the sign take precedence', () => {
  const check = (text: string, expected: string | null) => {
    const assumption = read(text);
    assert.equal(assumption && `${assumption.kind}: ${write(assumption)}`, expected, text);
  };
  check('T0:12 < T3:7', 'order: T0:12 < T3:7');
  check('T3:7 = 1a2b', 'state: T3:7 = 1a2b');
  check('T0:12<T3:7', 'order: T0:12 < T3:7');
  check(' T3:7=1a2b ', 'state: T3:7 = 1a2b');
  // Blanks on both sides decide, whatever the process name contains.
  check('a<b:1 < c=d:2', 'order: a<b:1 < c=d:2');
  check('a<b:1 = 1a2b', 'state: a<b:1 = 1a2b');
  check('a = b:1 = 1a2b', 'state: a = b:1 = 1a2b');
  check('a=b:1<c:2', 'order: a=b:1 < c:2');
  check('a=b:1=1a2b', 'state: a=b:1 = 1a2b');
  for (const text of ['', 'T0:1', '<', 'T0:1 <', '= 1a2b', ' < T0:1']) check(text, null);
});

/** Parses an order: `a` is a step that completes operation `a`, `a…` one that leaves it partway. The state after step
 * `n` is `s` followed by `n`. */
function wayOf(order: string): Way {
  const steps = order.split(' ').filter(step => step !== '');
  const find = (at: number) => (at < 0 ? null : at);
  return {
    begins: op => find(steps.findIndex(step => step.replace('…', '') === op)),
    over: op => find(steps.lastIndexOf(op)),
    idAfter: step => (step > 0 ? `s${step}` : null),
  };
}

test('an order satisfies an assumption as in the check', () => {
  const check = (text: string, order: string, expected: boolean | null) =>
    assert.equal(keeps(read(text)!, wayOf(order)), expected, `${text} in ${order}`);
  check('a < b', 'a b', true);
  check('a < b', 'b a', false);
  // An operation without steps comes after all others; one that never completes comes before none.
  check('a < b', 'c', true);
  check('a < b', 'b', false);
  check('a < b', 'a… c', true);
  check('a < b', 'a… b', false);
  // The last step of the first operation and the first step of the second count.
  check('a < b', 'a… b a', false);
  check('a < b', 'a… a b… b', true);
  check('a < b', 'b… a b', false);
  check('a = s1', 'b a', true);
  check('a = s1', 'b c a', false);
  check('a = s1', 'b a… a', false);
  check('a = s2', 'b a… a', true);
  check('a = s1', 'b a…', true);
  check('a = s1', 'b', true);
  check('a = s1', 'a', null);
});

const FACTS: Facts = {
  verdict: 'rejected',
  order: 'real-time',
  isBlocked: false,
  isWaiting: false,
  step: null,
  hasSteps: () => true,
  from: 10,
  to: 20,
  isFinished: true,
  failure: 50,
};

test('only operations in an order are placed', () => {
  const check = (facts: Partial<Facts>, expected: string) =>
    assert.equal(statusFrom({ ...FACTS, ...facts }), expected, JSON.stringify(facts));
  const hasSteps = () => false;
  check({ step: { partway: false } }, 'placed');
  check({ step: { partway: true } }, 'placed');
  check({ step: { partway: true }, isWaiting: true }, 'waiting');
  check({ isBlocked: true, step: { partway: true } }, 'blocked');
  // It returned before the failure, but is in no order.
  check({}, 'uncounted');
  check({ hasSteps }, 'unknown');
  check({ to: 60 }, 'waiting');
  check({ to: 60, hasSteps }, 'unknown');
  check({ from: 51, to: 60, hasSteps }, 'after');
  check({ from: 51, to: 60, order: 'program' }, 'after');
  check({ order: 'program', hasSteps }, 'unknown');
  check({ verdict: 'accepted', failure: null }, 'uncounted');
  check({ verdict: 'accepted', failure: null, hasSteps }, 'unknown');
  check({ verdict: 'accepted', failure: null, isFinished: false }, 'after');
  check({ verdict: 'inconclusive', failure: null }, 'unknown');
});

test('a placed operation is not listed as unplaced', () => {
  const statuses: Status[] = ['placed', 'placed', 'waiting', 'blocked', 'placed', 'waiting', 'after', 'after'];
  const check = (waiting: number[], most: number, expected: { found: number[]; more: boolean }) =>
    assert.deepEqual(
      unplaced(
        {
          blocked: 3,
          waiting: new Set(waiting),
          long: [2, 7],
          size: statuses.length,
          isLoaded: () => true,
          statusOf: at => statuses[at]!,
        },
        most,
      ),
      expected,
    );
  // Operation 1 could be next in another interpretation, but the chosen one places it.
  check([1, 5], 24, { found: [5, 2, 6, 7], more: false });
  check([1, 5], 3, { found: [5, 2, 6], more: true });
});
