// State shared by the panels: open dialogs and menus, announcements, and navigation by steps and operations.

import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { History } from '../data/history.ts';
import type { OpRef, Span } from '../data/types.ts';
import { failingOps, stuckIn, verdictView } from '../data/verdict.ts';
import {
  blocked,
  ending,
  failureWord,
  history,
  isAtBlocked,
  placeOf,
  report,
  select,
  selection,
  selectStep,
  showOperation,
  states,
  step,
  stepAt,
  stepCount,
  stepOf,
  tab,
} from '../state.ts';
import { brief, count, lineOf, many } from '../text.ts';

export const announcement = signal('');
/** A short-lived visible message. */
export const toast = signal<string | null>(null);
let toastTimer = 0;
export const windowWidth = signal(globalThis.innerWidth ?? 1600);

/** The width of the side panel; 0 if it is above or below. */
export function sideWidth(): number {
  return windowWidth.value > 1000 ? 412 : windowWidth.value > 820 ? 320 : 0;
}

/** Keeps `windowWidth` up to date. */
export function followWidth(): () => void {
  const onResize = () => {
    windowWidth.value = innerWidth;
  };
  addEventListener('resize', onResize);
  return () => removeEventListener('resize', onResize);
}

/** The line of a source that the tab `spec` shows. */
export const specAt = signal<{ source: number; line: number } | null>(null);
/** The open dialog. */
export const dialog = signal<'help' | 'palette' | null>(null);
/** The open menu and its subject. */
export const menu = signal<Menu | null>(null);

export interface Menu {
  x: number;
  y: number;
  /** An operation, by name. */
  name?: string;
  /** A state, by fingerprint. */
  state?: string;
  /** The interpretation of the state, if it is not the chosen one. */
  way?: number;
}

/** Announces a text to screen readers. */
export function announce(text: string): void {
  // Screen readers repeat a text only if it changes.
  announcement.value = announcement.peek() === text ? `${text} ` : text;
}

/** Announces a text and shows it as a toast. */
export function notify(text: string): void {
  announce(text);
  toast.value = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    toast.value = null;
  }, 5000);
}

export function openMenu(about: Menu): void {
  menu.value = about;
}

/** Handles a right click: opens the menu of its subject at the pointer. */
export function menuOf(about: Omit<Menu, 'x' | 'y'>): (event: MouseEvent) => void {
  return event => {
    event.preventDefault();
    openMenu({ x: event.clientX, y: event.clientY, ...about });
  };
}

/** Copies a text to the clipboard; returns true on success. */
export async function copy(text: string, what: string): Promise<boolean> {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    // A file may lack permission for the clipboard API, but can still copy a selection.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    document.body.append(area);
    area.select();
    done = document.execCommand('copy');
    area.remove();
  }
  notify(done ? `Copied ${what}` : `Could not copy ${what}`);
  return done;
}

/** The history; redraws the calling component when more of it has loaded. */
export function liveHistory(): History | null {
  const past = history.value;
  return past && past.version.value >= 0 ? past : null;
}

/** Selects an operation of the report. */
export function showOp(op: OpRef): void {
  const place = placeOf(op);
  if (place !== null) void showOperation(place);
}

/** Selects the operation with this name, and shows it; returns false if there is none. */
export async function showNamed(name: string, fit = false): Promise<boolean> {
  const place = await history.value?.place(name);
  if (place != null) await showOperation(place, fit);
  return place != null;
}

/** Announces the selected operation and its status. */
export function followAnnounce(): () => void {
  return effect(() => {
    const place = selection.value;
    const at = step.value;
    const op = place === null ? null : untracked(() => history.value?.op(place));
    if (place === null || !op) return;
    const status = untracked(() => {
      if (isAtBlocked()) return failureWord.value;
      const last = stepOf(place);
      if (last === null) return 'not placed';
      return `step ${count((at !== null && stepAt(at)?.op === place ? at : last) + 1)}`;
    });
    announce(`${brief(op.name, 40)} ${brief(op.text, 80)}, ${status}`);
  });
}

/** Selects a step and shows its operation. */
export async function showStep(at: number): Promise<void> {
  const past = history.value;
  if (!past || at < 0 || at >= stepCount.value) return;
  await past.ensureSteps(at, at);
  const op = stepAt(at)?.op;
  if (op === undefined) return;
  await showOperation(op);
  // That selects the last step of the operation, which need not be this one.
  selectStep(at);
}

/** Moves down (positive) or up in the list of steps. */
export function walk(rows: number): void {
  const last = stepCount.value - 1;
  const stuck = blocked.value;
  const now = isAtBlocked() ? last + 1 : (step.value ?? last + 1);
  const next = Math.max(0, now - rows);
  if (next > last) {
    if (stuck !== null) void showOperation(stuck);
  } else void showStep(next);
}

/** Selects the next or the previous operation of the same process. */
export async function walkLane(by: number): Promise<void> {
  const past = history.value;
  const at = selection.value;
  if (!past || at === null) return;
  const op = past.op(at);
  if (!op) return;
  const next = await past.place(`${past.timeline.processes[op.process]}:${op.index + by}`);
  if (next === null)
    notify(by > 0 ? 'this is the last operation of the process' : 'this is the first operation of the process');
  else await showOperation(next);
}

/** The number of interpretations that can be chosen. */
export const ways = computed<number>(() => {
  const verdict = stuckIn(report.value);
  if (states.value) return states.value.part.endings.length;
  return verdict?.interpretations.length ?? 0;
});

/** The number of interpretations, and how many are shown if not all: `16`, or `64 shown, of 233`. */
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
  notify(`order ${way + 1} of ${shownOf(total)}`);
}

/** Opens the Spec tab at a span. */
export function showSpec(span: Span): void {
  const source = report.value?.sources[span.source];
  if (!source) return;
  batch(() => {
    specAt.value = { source: span.source, line: lineOf(source.text, span.start).line };
    tab.value = 'spec';
  });
  requestAnimationFrame(() => document.querySelector<HTMLElement>('#panel-spec .rows')?.focus());
}

/** Closes the menu and clears the selection. */
export function clear(): void {
  batch(() => {
    menu.value = null;
    select(null);
    step.value = null;
  });
}

/** Goes to the earliest step after which a blocked or waiting operation could be next. */
export async function reveal(): Promise<void> {
  const past = history.value;
  const verdict = report.value ? verdictView(report.value) : null;
  if (!past || (verdict?.kind !== 'stuck' && verdict?.kind !== 'invariant')) return;
  const refs =
    verdict.kind === 'invariant'
      ? failingOps(verdict, report.value!.operations)
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
    // It comes after every operation that returned before it began, so it is available right after the last of those.
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
    notify('no operation fails');
    return;
  }
  const name = brief(past.name(best.place) ?? 'it', 40);
  const back = stepCount.value - best.step;
  if (best.step < stepCount.value) await showStep(best.step);
  else await showOperation(best.place);
  notify(
    back === 0
      ? `${name} could be next only here, at the failure`
      : `${name} could be next from step ${count(best.step + 1)} on, ${many(back, 'step')} before the failure`,
  );
}
