// Short names: the action always stays, and values as long as they fit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutMiddle, nameWithin, shortName, withoutCommonPrefix } from '../src/data/short.ts';

const field = (value: string) => ({ name: 'elem', value });

test('a short name has the action and the values', () => {
  const named = (action: string, args: string[], results: string[]) =>
    shortName({ action, args: args.map(field), results: results.map(field) });
  assert.equal(named('Enqueue', ['4'], []), 'Enqueue 4');
  assert.equal(named('Dequeue', [], ['5']), 'Dequeue → 5');
  assert.equal(named('Swap', ['1', '2'], ['3']), 'Swap 1, 2 → 3');
  assert.equal(named('DequeueEmpty', [], []), 'DequeueEmpty');
  assert.equal(named('Put', [`[id |-> ${'7'.repeat(60)}8]`], []), 'Put [id |-> 7777…7777777778]');
});

test('a name that does not fit loses letters of the action before its arguments', () => {
  const op = { action: 'ReserveStock', args: [field('"sku-1041"')], results: [] };
  const within = (room: number) => nameWithin(op, room);
  assert.equal(within(25), 'ReserveStock "sku-1041"');
  assert.equal(within(17), 'ResSto "sku-1041"');
  assert.equal(within(13), 'ResSto "sk…1"');
  assert.equal(within(8), 'ResSto');
  assert.equal(within(5), 'Re…to');
  assert.equal(within(1), '');
  for (let room = 0; room < 40; room += 1) assert.ok(within(room).length <= room, `${room}`);
});

test('results behind arguments are left out before the action is abbreviated', () => {
  const op = { action: 'Contains', args: [field('3')], results: [field('TRUE')] };
  const within = (room: number) => nameWithin(op, room);
  assert.deepEqual([20, 12, 9, 5, 3].map(within), ['Contains 3 → TRUE', 'Contains 3', 'Con 3', 'Con 3', 'Con']);
});

test('an action without values is abbreviated', () => {
  const within = (room: number) => nameWithin({ action: 'DequeueEmpty', args: [], results: [] }, room);
  assert.deepEqual([12, 11, 6, 5].map(within), ['DequeueEmpty', 'DeqEmp', 'DeqEmp', 'De…mp']);
});

test('texts are cut in the middle, and surrogate pairs are not split', () => {
  assert.equal(cutMiddle('abcdefgh', 8), 'abcdefgh');
  assert.equal(cutMiddle('abcdefgh', 5), 'ab…gh');
  assert.equal(cutMiddle('𝒜𝒜𝒜𝒜', 5), '𝒜…𝒜');
});

test('names of processes lose the words that all begin with', () => {
  const names = ['checkout-service-eu-1', 'checkout-service-eu-2', 'checkout-service-us-1'];
  assert.deepEqual(withoutCommonPrefix(names), ['eu-1', 'eu-2', 'us-1']);
  assert.deepEqual(withoutCommonPrefix(['T1', 'T2']), ['T1', 'T2']);
  assert.deepEqual(withoutCommonPrefix(['node-', 'node-1']), ['node-', 'node-1']);
  assert.deepEqual(withoutCommonPrefix(['checkout-service-1']), ['checkout-service-1']);
  assert.deepEqual(withoutCommonPrefix(['api-1', 'api-2']), ['api-1', 'api-2']);
  assert.deepEqual(withoutCommonPrefix(['checkout-service-1', 'checkout-service-2']), ['1', '2']);
});
