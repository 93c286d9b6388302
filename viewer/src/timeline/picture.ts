// The picture of the lanes as it should be now, from the state of the page: for the canvas, and for exports.

import { computed, signal } from '@preact/signals';
import {
  allBlocked,
  allEndings,
  blocked,
  collapsed,
  culprits,
  ending,
  history,
  matches,
  NOWHERE,
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

/** How large the canvas is, in pixels of the style. */
export const size = signal({ width: 0, height: 0 });
/** How far the lanes are scrolled. */
export const scroll = signal(0);

export const lanes = computed(() =>
  history.value && report.value ? arrange(history.value, report.value, pins.value, collapsed.value) : null,
);

export const geometry = computed(() => {
  if (!history.value || !lanes.value || size.value.width === 0 || viewport.value === NOWHERE) return null;
  return measure(history.value, lanes.value, { ...size.value, scroll: scroll.value }, viewport.value, scale.value);
});

/** What has been drawn since the history came, so that a legend says what it means. What is not known may become known
 * when more arrives, so that counts only as long as it is drawn. */
export const drawn = signal<ReadonlySet<Status>>(new Set());
let drawnOf: unknown = null;

/** Notes what a picture shows. */
export function note(statuses: ReadonlySet<Status>): void {
  const known = drawnOf === history.value ? [...drawn.value].filter(status => status !== 'unknown') : [];
  drawnOf = history.value;
  const now = new Set([...known, ...statuses]);
  if (now.size !== drawn.value.size || [...now].some(status => !drawn.value.has(status))) drawn.value = now;
}

/** Which operations the filter lets through, by place. */
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
    culprits: [...allBlocked.value.slice(1), ...culprits.value],
    endings: states.value?.part.endings ?? [],
    ending: ending.value,
    allEndings: allEndings.value,
    matches: matching.value,
    statusOf,
  };
}
