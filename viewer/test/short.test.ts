// Short names: values stay, because they tell operations apart.

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

test('a name that does not fit loses letters of the action before any of its values', () => {
  const op = { action: 'ReserveStock', args: [field('"sku-1041"')], results: [] };
  const within = (room: number) => nameWithin(op, 'ReserveStock(item: "sku-1041")', room);
  assert.equal(within(40), 'ReserveStock(item: "sku-1041")');
  assert.equal(within(25), 'ReserveStock "sku-1041"');
  assert.equal(within(17), 'ResSto "sku-1041"');
  assert.equal(within(12), '"sku-1041"');
  assert.equal(within(7), '"sk…41"');
  assert.equal(within(5), '');
  for (let room = 0; room < 40; room += 1) assert.ok(within(room).length <= room, `${room}`);
});

test('an action without values is abbreviated as a whole or left out', () => {
  const within = (room: number) =>
    nameWithin({ action: 'DequeueEmpty', args: [], results: [] }, 'DequeueEmpty()', room);
  assert.deepEqual([12, 11, 6, 5].map(within), ['DequeueEmpty', 'DeqEmp', 'DeqEmp', '']);
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
});
