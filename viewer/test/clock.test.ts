// Durations and moments in the unit of the clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, moment, offset } from '../src/data/clock.ts';

test('durations have a suitable unit', () => {
  const ns = [0, 840, 12_300, 12_345_678, 1_500_000_000, 90e9].map(ticks => duration(ticks, 'ns'));
  assert.deepEqual(ns, ['0 ns', '840 ns', '12.3 µs', '12.3 ms', '1.5 s', '90 s']);
  assert.equal(duration(1, 'steps'), '1 step');
  assert.equal(duration(1234, 'steps'), '1,234 steps');
  assert.equal(duration(1234, null), '1,234 ticks');
});

test('moments before and after another have a sign', () => {
  assert.deepEqual(
    [-1_670_000, 0, 840].map(ticks => offset(ticks, 'ns')),
    ['−1.67 ms', '0', '+840 ns'],
  );
  assert.deepEqual(
    [-16_000, 12].map(ticks => offset(ticks, null)),
    ['−16,000', '+12'],
  );
});

test('moments are exact to the step of an axis', () => {
  assert.equal(moment(12_345_678, 'ns', 5n), '12.345678 ms');
  assert.equal(moment(20_000_000, 'ns', 5n, 10_000_000, 90_000_000), '20 ms');
  assert.equal(moment(1_250_000_000, 'ns', 5n, 50_000_000, 2_000_000_000), '1.25 s');
  assert.equal(moment(4_000_000_000_000, 'ns', 5n, 1_000_000_000), '4,000 s');
  assert.equal(moment(20, 'steps', 5n), '25');
  assert.equal(moment(20, null, 1_000_000n), '1,000,020');
});
