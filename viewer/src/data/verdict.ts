// What a verdict says that stands in no field of its own.

import type { Rejection } from './types.ts';

/** True if it was found without any state: the operations of the window contradict each other, whatever the others do. */
export function isContradiction({ blocked, states, reasons, window }: Rejection): boolean {
  return blocked === null && states.length === 0 && reasons.length === 0 && window !== null;
}
