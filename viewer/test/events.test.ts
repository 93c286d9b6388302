// Faults and annotations on the clock of the timeline.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf } from '../src/data/events.ts';
import type { HistoryEvent, Report, Timeline } from '../src/data/types.ts';

function found(origin: string, processes: string[], ...events: HistoryEvent[]) {
  return eventsOf({ history: { events } } as Report, { origin, processes } as Timeline);
}

test('times count from the origin, and events that overlap are in different rows', () => {
  const events = found(
    '1000',
    ['n1', 'n2'],
    { name: 'kill', start: 1500, text: '' },
    { name: 'partition', start: 1200, end: 1600, text: '' },
    { name: 'heal', start: 1700, text: '' },
  );
  assert.deepEqual(
    events.map(({ name, start, end, row }) => [name, start, end, row]),
    [
      ['partition', 200, 600, 0],
      ['kill', 500, 500, 1],
      ['heal', 700, 700, 0],
    ],
  );
});

test('an event concerns its nodes and their clients, and all processes if it names none of them', () => {
  const of = (...nodes: string[]) =>
    found('0', ['n1', 'n1:3', 'n10', 'n2'], { name: 'cut', start: 0, text: '', nodes })[0]!.processes;
  assert.deepEqual(of('n1'), [0, 1]);
  assert.deepEqual(of('n2', 'n10'), [2, 3]);
  assert.deepEqual(of('disk'), [0, 1, 2, 3]);
  assert.deepEqual(of(), [0, 1, 2, 3]);
});

test('times in nanoseconds since 1970', () => {
  const [event] = found('1750000000000000000', ['T0'], { name: 'x', start: Number('1750000000000005120'), text: '' });
  assert.ok(Math.abs(event!.start - 5120) <= 256);
});

test('a report without events has none', () => {
  assert.deepEqual(eventsOf({ history: {} } as Report, { origin: '0', processes: [] } as unknown as Timeline), []);
});
