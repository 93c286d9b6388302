// Assumptions mean what the check means by them, and an operation is only called placed if it stands in an order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keeps, read, type Way, write } from '../src/data/assumption.ts';
import { type Facts, statusFrom } from '../src/data/status.ts';

test('assumptions are split where blanks say so', () => {
  const check = (text: string, expected: string | null) => {
    const assumption = read(text);
    assert.equal(assumption && `${assumption.kind}: ${write(assumption)}`, expected, text);
  };
  check('T0:12 < T3:7', 'order: T0:12 < T3:7');
  check('T3:7 = 1a2b', 'state: T3:7 = 1a2b');
  check('T0:12<T3:7', 'order: T0:12 < T3:7');
  check(' T3:7=1a2b ', 'state: T3:7 = 1a2b');
  // Blanks on both sides say what is meant, whatever a process is called.
  check('a<b:1 < c=d:2', 'order: a<b:1 < c=d:2');
  check('a<b:1 = 1a2b', 'state: a<b:1 = 1a2b');
  check('a = b:1 = 1a2b', 'state: a = b:1 = 1a2b');
  check('a=b:1<c:2', 'order: a=b:1 < c:2');
  check('a=b:1=1a2b', 'state: a=b:1 = 1a2b');
  for (const text of ['', 'T0:1', '<', 'T0:1 <', '= 1a2b', ' < T0:1']) check(text, null);
});

/** An order in which `a` stands for a step of an operation and `a…` for one that leaves it partway. After the step with
 * number `n` the state is `s` with `n`. */
function wayOf(order: string): Way {
  const steps = order.split(' ').filter(step => step !== '');
  const find = (at: number) => (at < 0 ? null : at);
  return {
    begins: op => find(steps.findIndex(step => step.replace('…', '') === op)),
    over: op => find(steps.lastIndexOf(op)),
    idAfter: step => (step > 0 ? `s${step}` : null),
  };
}

test('an order keeps an assumption as the check has it', () => {
  const check = (text: string, order: string, expected: boolean | null) =>
    assert.equal(keeps(read(text)!, wayOf(order)), expected, `${text} in ${order}`);
  check('a < b', 'a b', true);
  check('a < b', 'b a', false);
  // What never takes a step comes after everything, and what is never over comes before nothing.
  check('a < b', 'c', true);
  check('a < b', 'b', false);
  check('a < b', 'a… c', true);
  check('a < b', 'a… b', false);
  // It is the last step of the first that counts, and the first step of the second.
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

test('only what stands in an order is placed', () => {
  const check = (facts: Partial<Facts>, expected: string) =>
    assert.equal(statusFrom({ ...FACTS, ...facts }), expected, JSON.stringify(facts));
  const hasSteps = () => false;
  check({ step: { partway: false } }, 'placed');
  check({ step: { partway: true } }, 'placed');
  check({ step: { partway: true }, isWaiting: true }, 'waiting');
  check({ isBlocked: true, step: { partway: true } }, 'blocked');
  // It returned before the failure, and still stands nowhere.
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
