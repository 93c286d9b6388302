// Builds the picture of the lanes from the state of the page, for the canvas and for exports.

import { computed, signal } from '@preact/signals';
import {
  allBlocked,
  allEndings,
  blocked,
  brokenBy,
  collapsed,
  contradicting,
  ending,
  failureWord,
  history,
  laneOrder,
  matches,
  NO_VIEWPORT,
  pins,
  report,
  type Status,
  scale,
  selection,
  states,
  statusOf,
  step,
  viewport,
} from '../state.ts';
import { type Colors, readColors } from './colors.ts';
import type { Picture } from './draw.ts';
import { arrange } from './lanes.ts';
import { measure } from './scene.ts';

/** The size of the canvas, in CSS pixels. */
export const size = signal({ width: 0, height: 0 });
export const scroll = signal(0);

export const lanes = computed(() => {
  const past = history.value;
  // Nodes become known while operations load.
  if (laneOrder.value === 'node') past?.version.value;
  return past && report.value ? arrange(past, report.value, pins.value, collapsed.value, laneOrder.value) : null;
});

export const geometry = computed(() => {
  if (!history.value || !lanes.value || size.value.width === 0 || viewport.value === NO_VIEWPORT) return null;
  return measure(history.value, lanes.value, { ...size.value, scroll: scroll.value }, viewport.value, scale.value);
});

/** The statuses drawn since the history was loaded, for the legend. `unknown` counts only while it is drawn, because it
 * may become known when more data arrives. */
export const drawn = signal<ReadonlySet<Status>>(new Set());
let drawnOf: unknown = null;

/** Adds the statuses of a picture to `drawn`. */
export function noteDrawn(statuses: ReadonlySet<Status>): void {
  const known = drawnOf === history.value ? [...drawn.value].filter(status => status !== 'unknown') : [];
  drawnOf = history.value;
  const now = new Set([...known, ...statuses]);
  if (now.size !== drawn.value.size || [...now].some(status => !drawn.value.has(status))) drawn.value = now;
}

/** 1 at the place of each operation that matches the filter; null if there is no filter. */
const matching = computed(() => {
  const places = matches.value;
  const past = history.value;
  if (!places || !past) return null;
  const marks = new Uint8Array(past.size);
  for (const at of places) marks[at] = 1;
  return marks;
});

/** The picture; null if there is nothing to draw. */
export function pictureNow(colors: Colors = readColors()): Picture | null {
  const past = history.value;
  if (!past || !report.value || !lanes.value || !geometry.value) return null;
  return {
    history: past,
    report: report.value,
    lanes: lanes.value,
    geometry: geometry.value,
    colors,
    pins: pins.value,
    selection: selection.value,
    step: step.value,
    blocked: blocked.value,
    note: brokenBy.value === null ? '' : failureWord.value,
    failing: allBlocked.value.slice(1),
    contradicting: contradicting.value,
    endings: states.value?.part.endings ?? [],
    ending: ending.value,
    allEndings: allEndings.value,
    matches: matching.value,
    statusOf,
  };
}
