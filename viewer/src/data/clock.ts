// Durations and moments in the unit of the clock: nanoseconds in a unit that suits their size, steps, or plain ticks if
// the unit is unknown.

import { count, many } from '../text.ts';
import type { Report } from './types.ts';

export type Clock = NonNullable<Report['clock']> | null;

const UNITS: [name: string, nanoseconds: number][] = [
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3],
  ['ns', 1],
];

function unitFor(nanoseconds: number): [name: string, nanoseconds: number] {
  return UNITS.find(([, size]) => nanoseconds >= size) ?? UNITS[UNITS.length - 1]!;
}

/** `12.3 ms`, `14 steps`, `1,234 ticks`. */
export function duration(ticks: number, clock: Clock): string {
  if (clock === 'steps') return many(Math.round(ticks), 'step');
  if (clock === null) return many(Math.round(ticks), 'tick');
  const [name, size] = unitFor(ticks);
  return `${Number((ticks / size).toPrecision(3))} ${name}`;
}

/** A moment before or after another one, without the unit unless the clock has nanoseconds: `−1.67 ms`, `+14`, `0`. */
export function offset(ticks: number, clock: Clock): string {
  const sign = ticks < 0 ? '−' : ticks > 0 ? '+' : '';
  const size = Math.abs(ticks);
  return ticks === 0 ? '0' : `${sign}${clock === 'ns' ? duration(size, clock) : count(Math.round(size))}`;
}

/** A moment since the origin, exact to `step`, in the unit that suits `most`: `12.345 ms` after the first. Without
 * nanoseconds, a moment is shown as recorded. */
export function moment(ticks: number, clock: Clock, origin: bigint, step = 1, most = ticks): string {
  if (clock !== 'ns') return (origin + BigInt(Math.round(ticks))).toLocaleString('en');
  const [name, size] = unitFor(most);
  const digits = Math.max(0, Math.ceil(Math.log10(size / Math.max(1, step))));
  const [whole = '', part] = (ticks / size).toFixed(digits).split('.');
  return `${count(Number(whole))}${part ? `.${part}` : ''} ${name}`;
}
