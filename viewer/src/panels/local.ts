// What the panels share among themselves: what is open, what was announced, and walking by steps and operations.

import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { History } from '../data/history.ts';
import type { OpRef, Span } from '../data/types.ts';
import { found, stuckIn } from '../data/verdict.ts';
import {
  blocked,
  ending,
  history,
  isAtBlocked,
  placeOf,
  report,
  select,
  selection,
  selectStep,
  showOp as showPlace,
  states,
  step,
  stepAt,
  stepCount,
  stepOf,
  tab,
} from '../state.ts';
import { brief, count, lineOf, many } from '../text.ts';

/** What screen readers are told. */
export const said = signal('');
/** What stands for a moment at the lower edge as well. */
export const toast = signal<string | null>(null);
let toastTimer = 0;
/** How wide the window is. */
export const windowWidth = signal(globalThis.innerWidth ?? 1600);

/** Follows the width of the window. */
export function followWidth(): () => void {
  const onResize = () => {
    windowWidth.value = innerWidth;
  };
  addEventListener('resize', onResize);
  return () => removeEventListener('resize', onResize);
}

/** The line of a source that the tab `spec` shows. */
export const specAt = signal<{ source: number; line: number } | null>(null);
/** The dialog that is open. */
export const dialog = signal<'help' | 'palette' | null>(null);
/** The menu that is open, and what it is about. */
export const menu = signal<Menu | null>(null);

export interface Menu {
  x: number;
  y: number;
  /** An operation, by name. */
  name?: string;
  /** A state, by fingerprint. */
  state?: string;
  /** The interpretation that it is in, if that is not the chosen one. */
  way?: number;
}

/** Tells screen readers. */
export function tell(text: string): void {
  // The same text twice is not read twice unless something changes.
  said.value = said.peek() === text ? `${text} ` : text;
}

/** Tells everybody. */
export function say(text: string): void {
  tell(text);
  toast.value = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    toast.value = null;
  }, 5000);
}

export function openMenu(about: Menu): void {
  menu.value = about;
}

/** Puts a text on the clipboard; true if that worked. */
export async function copy(text: string, what: string): Promise<boolean> {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    // A file may not have the right to use the clipboard; a selection can be copied all the same.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    document.body.append(area);
    area.select();
    done = document.execCommand('copy');
    area.remove();
  }
  say(done ? `Copied ${what}` : `Could not copy ${what}`);
  return done;
}

/** The history, for a component that is to be drawn again when more of it has arrived. */
export function arriving(): History | null {
  const past = history.value;
  return past && past.version.value >= 0 ? past : null;
}

/** Selects an operation that the report speaks of. */
export function showOp(op: OpRef): void {
  const place = placeOf(op);
  if (place !== null) void showOperation(place);
}

/** Selects an operation; done when it is there. */
export async function showOperation(place: number, fit = false): Promise<void> {
  const past = history.value;
  if (!past) return;
  showPlace(place, fit);
  await past.ensure(place, place);
}

/** Says what was selected and what became of it. */
export function followAnnounce(): () => void {
  return effect(() => {
    const place = selection.value;
    const at = step.value;
    const op = place === null ? null : untracked(() => history.value?.op(place));
    if (place === null || !op) return;
    const became = untracked(() => {
      if (isAtBlocked()) return 'blocked';
      const last = stepOf(place);
      if (last === null) return 'not placed';
      return `step ${count((at !== null && stepAt(at)?.op === place ? at : last) + 1)}`;
    });
    tell(`${brief(op.name, 40)} ${brief(op.text, 80)}, ${became}`);
  });
}

/** Selects a step and looks at its operation. */
export async function showStep(at: number): Promise<void> {
  const past = history.value;
  if (!past || at < 0 || at >= stepCount.value) return;
  await past.ensureSteps(at, at);
  const op = stepAt(at)?.op;
  if (op === undefined) return;
  showPlace(op);
  await past.ensure(op, op);
  // An operation may take several steps, and its last is not the one that was asked for.
  selectStep(at);
}

/** One row down or up in the list of steps. */
export function walk(rows: number): void {
  const last = stepCount.value - 1;
  const stuck = blocked.value;
  const now = isAtBlocked() ? last + 1 : (step.value ?? last + 1);
  const next = Math.max(0, now - rows);
  if (next > last) {
    if (stuck !== null) void showOperation(stuck);
  } else void showStep(next);
}

/** The next or the previous operation of the same process. */
export async function walkLane(by: number): Promise<void> {
  const past = history.value;
  const at = selection.value;
  if (!past || at === null) return;
  const op = past.op(at);
  if (!op) return;
  const next = await past.place(`${past.timeline.processes[op.process]}:${op.index + by}`);
  if (next === null) say(by > 0 ? 'the last operation of its process' : 'the first operation of its process');
  else await showOperation(next);
}

/** How many interpretations can be chosen. */
export const ways = computed<number>(() => {
  const verdict = stuckIn(report.value);
  if (states.value) return states.value.part.endings.length;
  return verdict?.interpretations.length ?? 0;
});

/** How many there are, and how many of them can be chosen if that is not all: `16`, or `64 shown, of 233`. */
export function shownOf(shown: number): string {
  const verdict = stuckIn(report.value);
  const all = verdict?.interpretations.length ?? 0;
  return all > shown ? `${count(shown)} shown, of ${count(all)}` : count(shown);
}

/** Chooses an interpretation. */
export function choose(way: number): void {
  const total = ways.value;
  if (way < 0 || way >= total) return;
  batch(() => {
    ending.value = way;
    const at = step.value;
    if (at !== null && at >= stepCount.value) step.value = stepCount.value - 1;
  });
  say(`interpretation ${way + 1} of ${shownOf(total)}`);
}

/** Opens the source at a span. */
export function showSpec(span: Span): void {
  const source = report.value?.sources[span.source];
  if (!source) return;
  batch(() => {
    specAt.value = { source: span.source, line: lineOf(source.text, span.start).line };
    tab.value = 'spec';
  });
  requestAnimationFrame(() => document.querySelector<HTMLElement>('#panel-spec .rows')?.focus());
}

/** Nothing selected, nothing open. */
export function clear(): void {
  batch(() => {
    menu.value = null;
    select(null);
    step.value = null;
  });
}

/** Goes to the first step after which one of the stuck operations could have been next. */
export async function reveal(): Promise<void> {
  const past = history.value;
  const verdict = report.value ? found(report.value) : null;
  if (!past || (verdict?.kind !== 'stuck' && verdict?.kind !== 'invariant')) return;
  const refs =
    verdict.kind === 'invariant'
      ? verdict.blocked
      : verdict.reasons.filter(reason => reason.why.kind !== 'time').map(reason => reason.op);
  const stuck = new Set<number>();
  for (const ref of refs) {
    const place = placeOf(ref);
    if (place !== null) stuck.add(place);
  }
  let best: { step: number; place: number } | null = null;
  for (const place of stuck) {
    await past.ensure(place, place);
    const from = past.op(place)?.from ?? 0;
    // What returned before it began comes before it, so it was available right after the last of those.
    let at = stepCount.value;
    while (at > 0) {
      await past.ensureSteps(at - 1, at - 1);
      const before = stepAt(at - 1)?.op;
      if (before === undefined) break;
      if (!past.chunkOf(before)) await past.ensure(before, before);
      const chunk = past.chunkOf(before);
      if (!chunk || chunk.to[before - chunk.first]! < from) break;
      at -= 1;
    }
    if (!best || at < best.step) best = { step: at, place };
  }
  if (!best) {
    say('no operation is stuck');
    return;
  }
  const name = brief(past.name(best.place) ?? 'it', 40);
  const back = stepCount.value - best.step;
  if (best.step < stepCount.value) await showStep(best.step);
  else await showOperation(best.place);
  say(
    back === 0
      ? `${name} could be next only now, where everything is stuck`
      : `${name} could have been next from step ${count(best.step + 1)} on, ${many(back, 'step')} before everything is stuck`,
  );
}
