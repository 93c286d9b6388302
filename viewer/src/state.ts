// What all parts of the page share: the data, what is selected, and what is looked at.
// Signals only change through plain assignment or the helpers here; whoever reads one in a component is drawn again.
//
// A *place* counts operations by start. A *step* counts from nought: first the common steps, then those of the chosen
// ending. Step `n` leads from the state after `n` steps to the state after `n + 1`.

import { batch, computed, signal } from '@preact/signals';
import { History, type Op, type Scale, type Step } from './data/history.ts';
import { loadJson, openParts, type Parts } from './data/parts.ts';
import { States } from './data/states.ts';
import { type Status, statusFrom } from './data/status.ts';
import type { Head, Report, RunHead, States as StatesPart } from './data/types.ts';
import { found, stuckIn } from './data/verdict.ts';

export type { Status };
export type Theme = 'auto' | 'light' | 'dark';

export interface Viewport {
  /** A rank, or a time since the origin, as the scale says. */
  from: number;
  to: number;
}

export const head = signal<Head | null>(null);
export const history = signal<History | null>(null);
export const states = signal<States | null>(null);
/** Why the data could not be loaded, or what a server objected to. */
export const problem = signal<string | null>(null);
/** True while a server checks again. */
export const busy = signal(false);

/** The operation that is looked at. */
export const selection = signal<number | null>(null);
/** The step that is looked at. */
export const step = signal<number | null>(null);
export const scale = signal<Scale>('order');
/** Before anything is looked at. Nothing is drawn, and nothing is asked for. */
export const NOWHERE: Viewport = { from: 0, to: 1 };
export const viewport = signal<Viewport>(NOWHERE);
/** Which interpretation is chosen: a place in `states.part.endings`. */
export const ending = signal(0);
/** Draw the others as well. */
export const allEndings = signal(false);
export const filter = signal('');
/** The places that the filter lets through, increasing; null if there is no filter. */
export const matches = signal<number[] | null>(null);
export const tab = signal('steps');
/** What somebody assumes, such as `T0:12 < T3:7`. What the verdict was checked under stands in `assumed`. */
export const focus = signal<string[]>([]);
/** Expressions that are evaluated in every state. */
export const watch = signal<string[]>([]);
/** What the data on the screen was asked for with. */
const answered = signal<{ focus: string[]; watch: string[] }>({ focus: [], watch: [] });
export const theme = signal<Theme>('auto');
/** Values longer than this are cut. */
export const valueWidth = signal(80);
/** Processes whose lanes come first. */
export const pins = signal<number[]>([]);
/** True if lanes that have no part in the failure are hidden. */
export const collapsed = signal(true);

/** The page about one history, if it is one. */
export const run = computed<RunHead | null>(() => (head.value?.kind === 'run' ? head.value : null));
export const report = computed<Report | null>(() => run.value?.report ?? null);
/** What the verdict on the screen was checked under. */
export const assumed = computed<string[]>(() => run.value?.assumed ?? []);
/** All that is assumed: by the verdict, and by somebody who looks at it. */
export const allAssumed = computed<string[]>(() => [...new Set([...assumed.value, ...focus.value])]);
/** True while the verdict on the screen is not about what somebody assumes now. */
export const isStale = computed(() => !!run.value?.served?.assume && !isSame(answered.value.focus, focus.value));

/** The places of the operations that cannot be placed. Without real time there may be several. */
export const allBlocked = computed<number[]>(() => {
  const verdict = report.value ? found(report.value) : null;
  const places = verdict && 'blocked' in verdict ? verdict.blocked.map(placeOf) : [];
  return places.filter(place => place !== null);
});

/** The place of the first of them, where the page opens. */
export const blocked = computed<number | null>(() => allBlocked.value[0] ?? null);

/** Places of operations that contradict each other, whatever the others do, by start: what a procedure that does not
 * search says instead of one blocked operation. Empty if the verdict is another. */
export const culprits = computed<number[]>(() => {
  const verdict = report.value ? found(report.value) : null;
  if (verdict?.kind !== 'contradiction') return [];
  const places = verdict.operations.map(placeOf).filter(place => place !== null);
  return places.sort((a, b) => a - b);
});

/** Places of operations that could be next and are not, other than the blocked one. */
export const waiting = computed<Set<number>>(() => {
  const places = stuckIn(report.value)?.reasons.map(reason => placeOf(reason.op)) ?? [];
  return new Set(places.filter(place => place !== null && !allBlocked.value.includes(place)) as number[]);
});

/** For each ending, the last step of every operation in it. */
const endingSteps = computed<Map<number, number>[]>(() =>
  (states.value?.part.endings ?? []).map(({ steps }) => new Map(steps.map(({ op }, i) => [op, i]))),
);

/** What is known of the chosen order if only the report is at hand: the places of its last steps. */
const recent = computed<Map<number, { partway: boolean }>>(() => {
  const steps = stuckIn(report.value)?.interpretations[ending.value]?.recent ?? [];
  return new Map(run.value?.timeline ? [] : steps.map(({ op, partway }) => [placeOf(op) ?? -1, { partway }]));
});

/** How many steps there are along the chosen ending. */
export const stepCount = computed<number>(() => {
  const common = history.value?.timeline.steps ?? 0;
  return common + (states.value?.part.endings[ending.value]?.steps.length ?? 0);
});

/** The place of an operation that the report speaks of. */
export function placeOf(op: number): number | null {
  return history.value?.timeline.mentioned[op] ?? null;
}

/** A step along the chosen ending; null if it is not here yet. */
export function stepAt(at: number, which = ending.value): Step | null {
  const common = history.value?.timeline.steps ?? 0;
  if (at < common) return history.value?.step(at) ?? null;
  return states.value?.part.endings[which]?.steps[at - common] ?? null;
}

/** The last step of an operation along the chosen ending; null if it takes none, or if that is not here yet. */
export function stepOf(at: number, which = ending.value): number | null {
  const common = history.value?.timeline.steps ?? 0;
  const last = endingSteps.value[which]?.get(at);
  return last === undefined ? (history.value?.stepOf(at) ?? null) : common + last;
}

/** The first step of an operation along the chosen ending; null if it takes none, or if that is not here yet. */
export function firstStepOf(at: number, which = ending.value): number | null {
  const past = history.value;
  const common = past?.firstStepOf(at) ?? null;
  if (!past || common !== null) return common;
  const first = states.value?.part.endings[which]?.steps.findIndex(({ op }) => op === at) ?? -1;
  return first < 0 ? null : past.timeline.steps + first;
}

/** What became of an operation. */
export function statusOf(at: number): Status {
  const past = history.value;
  const verdict = report.value?.verdict;
  const here = past?.chunkOf(at);
  const stuck = blocked.value;
  const there = stuck === null ? null : past?.chunkOf(stuck);
  if (!past || !verdict || !here || there === undefined || (stuck !== null && !there)) return 'unknown';
  const last = stepOf(at);
  const i = at - here.first;
  const hasOrder = past.timeline.steps > 0 || (states.value?.part.endings.length ?? 0) > 0;
  return statusFrom({
    verdict: verdict.kind,
    order: report.value!.order,
    isBlocked: allBlocked.value.includes(at) || culprits.value.includes(at),
    isWaiting: waiting.value.has(at),
    step: last === null ? (recent.value.get(at) ?? null) : stepAt(last),
    hasSteps: () => hasOrder && past.hasSteps(here.from[i]!, here.to[i]!),
    from: here.from[i]!,
    to: here.to[i]!,
    isFinished: here.end[i] !== Number.POSITIVE_INFINITY,
    failure: there && stuck !== null ? there.to[stuck - there.first]! : null,
  });
}

/** Selects an operation, and its step if it has one. The blocked operation is where it is stuck, even if it took some
 * steps before. */
export function select(at: number | null): void {
  batch(() => {
    selection.value = at;
    if (at !== null) step.value = at === blocked.value ? null : (stepOf(at) ?? step.value);
  });
}

/** True if the blocked operation is selected, and not one of the steps that it took before. */
export function isAtBlocked(): boolean {
  const stuck = blocked.value;
  if (stuck === null || selection.value !== stuck) return false;
  return step.value === null || stepAt(step.value)?.op !== stuck;
}

/** Selects a step and its operation. */
export function selectStep(at: number | null): void {
  batch(() => {
    step.value = at;
    if (at !== null) selection.value = stepAt(at)?.op ?? selection.value;
  });
}

/** How much of the history a glance takes in, in ranks. */
const GLANCE = 48;

/** A glance at an operation: less if only that leaves room for its text on a usual screen, more if it is long. */
function glanceAt(op: Op): number {
  const wanted = (Math.min(op.text.length, 40) + 4) * 7.2;
  const length = op.to - op.from;
  return Math.min(Math.max(GLANCE, Math.min(4 * GLANCE, 3 * length)), Math.max(24, (1000 * length) / wanted));
}

/** A history with no more ranks than this is looked at as a whole. */
const SMALL = 40;

/** Looks at the failure: a glance, most of it before. Without a failure, at the place where the search was widest, or at
 * the end of the order if that is not known. */
export function showFailure(): void {
  void goTo(async past => blocked.value ?? widest() ?? (await endOfOrder(past)));
}

/** Where the page opens: at the failure, or at the end of the order, where the list of steps begins too. */
export function showOpening(): Promise<void> {
  return goTo(async past => blocked.value ?? (await endOfOrder(past)) ?? widest(), false);
}

/** Looks at the operation that is found, and selects it if there is reason to. */
async function goTo(find: (past: History) => Promise<number | null>, selects = true): Promise<void> {
  const past = history.value;
  if (!past) return;
  const [looked, chosen] = [viewport.value, selection.value];
  const guilty = culprits.value;
  const at = guilty[0] ?? (await find(past));
  if (at === null) {
    showWhole();
    return;
  }
  for (const place of [at, ...guilty]) await past.ensure(place, place);
  const op = past.op(at);
  // Who has looked elsewhere meanwhile, perhaps because a link said so, stays there.
  if (past !== history.value || looked !== viewport.value || chosen !== selection.value) return;
  if (!op) {
    showWhole();
    return;
  }
  const [first, last] = past.span('order');
  let from = first;
  let width = last - first;
  if (guilty.length > 0) {
    from = op.from;
    width = Math.max(...guilty.map(place => past.op(place)?.to ?? from)) - from;
    const room = Math.max(SMALL - width, width * 0.2);
    from -= room / 2;
    width += room;
  } else if (width > SMALL) {
    width = Math.min(width, glanceAt(op));
    from = Math.min(op.to, op.from + width / 2) - width * 0.7;
  }
  // Nothing is before the first event and after the last.
  width = Math.min(width, last - first);
  from = Math.max(first, Math.min(from, last - width));
  batch(() => {
    look('order', from, from + width);
    if (guilty.length === 0 && (selects || blocked.value === at)) select(at);
  });
}

async function endOfOrder(past: History): Promise<number | null> {
  const last = past.timeline.steps - 1;
  if (last < 0) return null;
  await past.ensureSteps(last, last);
  return past.opAtStep(last);
}

function widest(): number | null {
  const op = report.value?.stats.widest?.at ?? null;
  return op === null ? null : placeOf(op);
}

/** Looks at everything. */
export function showWhole(): void {
  const past = history.value;
  if (!past) return;
  const [from, to] = past.span(scale.value);
  viewport.value = { from, to };
}

/** Selects an operation and looks at it. What is looked at already stays where it is. */
export function showOp(at: number, fit = false): void {
  const past = history.value;
  if (!past) return;
  void past.ensure(at, at).then(() => {
    const op = past.op(at);
    if (!op) return;
    batch(() => {
      select(at);
      const { from, to } = viewport.value;
      const [start, end] = interval(op);
      const width = to - from;
      const visible = start >= from && start <= to && (end - start) / width > 0.002;
      if (visible && !fit) return;
      const finish = op.end === null ? op.from + GLANCE / 3 : op.to;
      const room = Math.max(fit ? (finish - op.from) * 0.3 : 0, (GLANCE - (finish - op.from)) / 2, 4);
      look('order', op.from - room, Math.min(finish, op.from + 4 * GLANCE) + room);
    });
  });
}

/** When an operation ran, on the chosen scale. */
export function interval(op: Op): [number, number] {
  if (scale.value === 'order') return [op.from, op.to];
  return [op.start, op.end ?? history.value?.span('time')[1] ?? op.start];
}

/** Looks at an interval that is given on one scale, whatever scale is chosen. */
export function look(on: Scale, from: number, to: number): void {
  const past = history.value;
  if (!past) return;
  const convert = (x: number) => (on === scale.value ? x : on === 'order' ? past.timeOf(x) : past.rankOf(x));
  setViewport(convert(from), convert(to));
}

/** Changes the scale and keeps looking at the same operations. */
export function setScale(next: Scale): void {
  const before = scale.value;
  if (next === before) return;
  const { from, to } = viewport.value;
  batch(() => {
    scale.value = next;
    look(before, from, to);
  });
}

/** Looks nearer (less than one) or from further away, around a place: nought is the left edge, one the right. */
export function zoom(factor: number, around = 0.5): void {
  const { from, to } = viewport.value;
  const middle = from + (to - from) * around;
  setViewport(middle - (middle - from) * factor, middle + (to - middle) * factor);
}

/** Looks further to the left (less than nought) or right, by a part of what is visible. */
export function pan(fraction: number): void {
  const { from, to } = viewport.value;
  const by = (to - from) * fraction;
  setViewport(from + by, to + by);
}

function setViewport(from: number, to: number): void {
  const past = history.value;
  if (!past) return;
  const [first, last] = past.span(scale.value);
  const whole = (last - first) * 1.02;
  const least =
    scale.value === 'order' ? 4 : Math.min(whole, Math.max(1, (4 * (last - first)) / past.timeline.ranks / 100));
  const width = Math.min(whole, Math.max(least, to - from));
  const middle = (from + to) / 2;
  const margin = width * 0.4;
  const left = Math.min(Math.max(middle - width / 2, first - margin), last + margin - width);
  viewport.value = { from: left, to: left + width };
}

let parts: Parts | null = null;

/** Loads what the page shows. */
export async function start(): Promise<void> {
  parts = openParts();
  await refresh();
  const wrong = problem.value;
  if (head.value === null && wrong !== null && focus.value.length + watch.value.length > 0) {
    // A link with assumptions that the server cannot take still leads to the page.
    focus.value = [];
    watch.value = [];
    await refresh();
    problem.value ??= wrong;
  }
  const past = history.value;
  if (!past || past.served) return;
  // After the first picture, everything else.
  await past.loadAll(blocked.value ?? culprits.value[0] ?? past.size);
}

/** Which question was asked last: answers to others come too late. */
let turn = 0;

/** Asks again for what depends on assumptions and watched expressions, after `focus` or `watch` changed. True if there
 * is an answer. If there is none, both are again what the data on the screen was asked for with. */
export async function refresh(): Promise<boolean> {
  if (!parts) return false;
  turn += 1;
  const mine = turn;
  const asked = { focus: focus.value, watch: watch.value };
  busy.value = true;
  try {
    const assume = asked.focus.map((text): [string, string] => ['assume', text]);
    const expressions = asked.watch.map((text): [string, string] => ['watch', text]);
    const loaded = await loadJson<Head>(parts, 'head', assume);
    if (loaded.kind === 'index') {
      head.value = loaded;
      return true;
    }
    const past = new History(parts, loaded.timeline, loaded.report, assume, history.value);
    const known = loaded.timeline ? await loadStates(parts, [...assume, ...expressions]) : null;
    if (mine !== turn) return false;
    batch(() => {
      const first = head.value === null;
      const isOther = !isSame(asked.focus, answered.value.focus);
      head.value = loaded;
      history.value = past;
      states.value = known;
      answered.value = asked;
      ending.value = Math.min(ending.value, Math.max(0, (known?.part.endings.length ?? 1) - 1));
      problem.value = null;
      if (first) void showOpening();
      else if (isOther) {
        // Another order has other steps.
        step.value = null;
        select(selection.value);
      }
    });
    return true;
  } catch (error) {
    if (mine !== turn) return false;
    const why = error instanceof Error ? error.message : String(error);
    batch(() => {
      problem.value = isStale.value ? `not checked, so assumptions and verdict are as before: ${why}` : why;
      if (head.value === null) return;
      focus.value = answered.value.focus;
      watch.value = answered.value.watch;
    });
    return false;
  } finally {
    if (mine === turn) busy.value = false;
  }
}

/** Asks for the states up to an earlier step; they stand beside the latest ones. */
export async function showStatesUntil(until: number): Promise<void> {
  const latest = states.value;
  if (!parts?.served || !latest) return;
  const { focus: assume, watch: expressions } = answered.value;
  const query = assume.map((text): [string, string] => ['assume', text]);
  for (const text of expressions) query.push(['watch', text]);
  query.push(['until', String(until)]);
  try {
    const earlier = await loadStates(parts, query);
    if (states.value === latest) states.value = new States(latest.part, earlier);
  } catch (error) {
    problem.value = error instanceof Error ? error.message : String(error);
  }
}

/** Forgets earlier states, and goes to the end of the order. */
export function showLatestStates(): void {
  const known = states.value;
  if (!known) return;
  batch(() => {
    states.value = new States(known.part);
    selectStep(stepCount.value - 1);
  });
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((text, at) => text === b[at]);
}

async function loadStates(from: Parts, query: [string, string][]): Promise<States> {
  return new States(await loadJson<StatesPart>(from, 'states', query));
}
