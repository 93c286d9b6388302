// Shared state of the page: the data, the selection and the viewport.
// Signals change by plain assignment or through the helpers here; a component that reads a signal is redrawn.
//
// A *place* is the index of an operation, sorted by start. A *step* counts from 0: first the common steps, then those
// of the chosen ending. Step `n` leads from the state after `n` steps to the state after `n + 1`.

import { batch, computed, signal } from '@preact/signals';
import { History, type Op, type Scale, type Step } from './data/history.ts';
import { loadJson, openParts, type Parts } from './data/parts.ts';
import { States } from './data/states.ts';
import { type Status, statusFrom } from './data/status.ts';
import type { Head, Report, RunHead, States as StatesPart } from './data/types.ts';
import { failingOps, stuckIn, verdictView } from './data/verdict.ts';
import { brief } from './text.ts';

export type { Status };
export type Theme = 'auto' | 'light' | 'dark';

export interface Viewport {
  /** A rank, or a time since the origin, depending on the scale. */
  from: number;
  to: number;
}

export const head = signal<Head | null>(null);
export const history = signal<History | null>(null);
export const states = signal<States | null>(null);
/** Why loading failed, or why the server refused a request. */
export const problem = signal<string | null>(null);
export const busy = signal(false);

export const selection = signal<number | null>(null);
export const step = signal<number | null>(null);
export const scale = signal<Scale>('order');
/** The initial viewport: nothing is drawn and nothing is requested. */
export const NO_VIEWPORT: Viewport = { from: 0, to: 1 };
export const viewport = signal<Viewport>(NO_VIEWPORT);
/** The chosen interpretation: an index into `states.part.endings`. */
export const ending = signal(0);
/** True if the other interpretations are drawn as well. */
export const allEndings = signal(false);
export const filter = signal('');
/** The places that match the filter, in increasing order; null if there is no filter. */
export const matches = signal<number[] | null>(null);
/** The chosen tab; empty for the first of the page. */
export const tab = signal('');
/** Assumptions of the user, such as `T0:12 < T3:7`. `assumed` has those of the verdict. */
export const focus = signal<string[]>([]);
/** Expressions to evaluate in every state. */
export const watch = signal<string[]>([]);
/** The assumptions and expressions of the last answered request. */
const answered = signal<{ focus: string[]; watch: string[] }>({ focus: [], watch: [] });
export const theme = signal<Theme>('auto');
export const valueWidth = signal(80);
export const pins = signal<number[]>([]);
/** True if lanes not involved in the failure are hidden. */
export const collapsed = signal(true);

/** The order of lanes: by name, or by node and name. */
export const laneOrder = signal<'name' | 'node'>('name');

/** The head of a page about one history; null on an index page. */
export const run = computed<RunHead | null>(() => (head.value?.kind === 'run' ? head.value : null));
export const report = computed<Report | null>(() => run.value?.report ?? null);
/** The assumptions that the displayed verdict was checked under. */
export const assumed = computed<string[]>(() => run.value?.assumed ?? []);
/** The assumptions of the verdict and of the user. */
export const allAssumed = computed<string[]>(() => [...new Set([...assumed.value, ...focus.value])]);
/** True while the displayed verdict is not about the current assumptions. */
export const isStale = computed(() => !!run.value?.served?.assume && !isSame(answered.value.focus, focus.value));

/** The places of the blocked operations. In program order there may be several. If the report says which operation
 * made an invariant false, it is that one: the others could merely not be placed after it. */
export const allBlocked = computed<number[]>(() => {
  const places = report.value ? failingOps(verdictView(report.value), report.value.operations).map(placeOf) : [];
  return places.filter(place => place !== null);
});

/** The invariant that the operation in `allBlocked` made false; null if it is blocked for another reason. */
export const brokenBy = computed<string | null>(() => {
  const verdict = report.value ? verdictView(report.value) : null;
  return verdict?.kind === 'invariant' && verdict.broke?.length ? verdict.invariant : null;
});

/** True if transactions form a cycle, or one read what no order explains: all in `allBlocked` take part. */
export const isAnomaly = computed<boolean>(() => !!report.value && verdictView(report.value).kind === 'anomaly');

/** What is wrong with the operations in `allBlocked`: `not legal`, `breaks AtMostOne`, or `stuck`. */
export const failureWord = computed<string>(() => {
  if (isAnomaly.value) return 'takes part';
  if (brokenBy.value !== null) return `breaks ${brief(brokenBy.value, 60)}`;
  return /^stuck\b/.test(report.value?.ended ?? '') ? 'stuck' : 'not legal';
});

/** The place of the first blocked operation, where the page opens. */
export const blocked = computed<number | null>(() => allBlocked.value[0] ?? null);

/** The moment that times are relative to: the end of the failing operation, or else the first event. */
export const reference = computed<number>(() => {
  const past = history.value;
  const op = past && past.version.value >= 0 && blocked.value !== null ? past.op(blocked.value) : null;
  return op ? (op.end ?? op.start) : 0;
});

/** Places of operations that contradict each other regardless of all others, by start: that of `blocked` and those that
 * it contradicts. Empty for any other verdict. */
export const contradicting = computed<number[]>(() => {
  const verdict = report.value ? verdictView(report.value) : null;
  if (verdict?.kind !== 'contradiction') return [];
  const places = verdict.operations.map(placeOf).filter(place => place !== null);
  return places.sort((a, b) => a - b);
});

/** Places of operations, other than the blocked ones, that could be next but are not placed. */
export const waiting = computed<Set<number>>(() => {
  const places = stuckIn(report.value)?.reasons.map(reason => placeOf(reason.op)) ?? [];
  return new Set(places.filter(place => place !== null && !allBlocked.value.includes(place)) as number[]);
});

/** For each ending, a map from operation to its last step there. */
const endingSteps = computed<Map<number, number>[]>(() =>
  (states.value?.part.endings ?? []).map(({ steps }) => new Map(steps.map(({ op }, i) => [op, i]))),
);

/** The places of the last steps of the chosen order, if the page has no timeline. */
const recent = computed<Map<number, { partway: boolean }>>(() => {
  const steps = stuckIn(report.value)?.interpretations[ending.value]?.recent ?? [];
  return new Map(run.value?.timeline ? [] : steps.map(({ op, partway }) => [placeOf(op) ?? -1, { partway }]));
});

export const stepCount = computed<number>(() => {
  const common = history.value?.timeline.steps ?? 0;
  return common + (states.value?.part.endings[ending.value]?.steps.length ?? 0);
});

export function placeOf(op: number): number | null {
  return history.value?.timeline.mentioned[op] ?? null;
}

/** A step along an ending; null if it is not loaded yet. */
export function stepAt(at: number, which = ending.value): Step | null {
  const common = history.value?.timeline.steps ?? 0;
  if (at < common) return history.value?.step(at) ?? null;
  return states.value?.part.endings[which]?.steps[at - common] ?? null;
}

/** The last step of an operation along an ending; null if it takes none or is not loaded yet. */
export function stepOf(at: number, which = ending.value): number | null {
  const common = history.value?.timeline.steps ?? 0;
  const last = endingSteps.value[which]?.get(at);
  return last === undefined ? (history.value?.stepOf(at) ?? null) : common + last;
}

/** The first step of an operation along an ending; null if it takes none or is not loaded yet. */
export function firstStepOf(at: number, which = ending.value): number | null {
  const past = history.value;
  const common = past?.firstStepOf(at) ?? null;
  if (!past || common !== null) return common;
  const first = states.value?.part.endings[which]?.steps.findIndex(({ op }) => op === at) ?? -1;
  return first < 0 ? null : past.timeline.steps + first;
}

export function statusOf(at: number): Status {
  const past = history.value;
  const verdict = report.value?.verdict;
  const here = past?.chunkOf(at);
  const stuck = blocked.value;
  const there = stuck === null ? null : past?.chunkOf(stuck);
  if (contradicting.value.length > 0) {
    return at === stuck ? 'blocked' : contradicting.value.includes(at) ? 'placed' : 'after';
  }
  if (isAnomaly.value) return allBlocked.value.includes(at) ? 'blocked' : 'after';
  if (!past || !verdict || !here || there === undefined || (stuck !== null && !there)) return 'unknown';
  const last = stepOf(at);
  const i = at - here.first;
  const hasOrder = past.timeline.steps > 0 || (states.value?.part.endings.length ?? 0) > 0;
  return statusFrom({
    verdict: verdict.kind,
    order: report.value!.order,
    isBlocked: allBlocked.value.includes(at),
    isWaiting: waiting.value.has(at),
    step: last === null ? (recent.value.get(at) ?? null) : stepAt(last),
    hasSteps: () => hasOrder && past.hasSteps(here.from[i]!, here.to[i]!),
    from: here.from[i]!,
    to: here.to[i]!,
    isFinished: here.end[i] !== Number.POSITIVE_INFINITY,
    failure: there && stuck !== null ? there.to[stuck - there.first]! : null,
  });
}

/** The sign and the words of a status. */
export function statusWords(status: Status): [sign: string, words: string] {
  const isContradiction = contradicting.value.length > 0;
  const isTimed = blocked.value !== null && report.value?.order === 'real-time';
  switch (status) {
    case 'placed':
      return isContradiction ? ['', 'contradicts it'] : ['✓', 'placed'];
    case 'blocked':
      return ['✗', failureWord.value];
    case 'waiting':
      return ['…', 'waiting'];
    case 'after':
      return [
        '·',
        isContradiction || isAnomaly.value ? 'no part of it' : isTimed ? 'after the failure' : 'not in the order',
      ];
    case 'uncounted':
      return ['○', 'not counted'];
    case 'unknown':
      return ['?', 'unknown'];
  }
}

/** Selects an operation, and its last step if it has one. Selecting the blocked operation selects the failure, even if
 * the operation took some steps before. */
export function select(at: number | null): void {
  batch(() => {
    selection.value = at;
    if (at !== null) step.value = at === blocked.value ? null : (stepOf(at) ?? step.value);
  });
}

/** True if the failure is selected: the blocked operation, but not one of its earlier steps. */
export function isAtBlocked(): boolean {
  const stuck = blocked.value;
  if (stuck === null || selection.value !== stuck) return false;
  return step.value === null || stepAt(step.value)?.op !== stuck;
}

export function selectStep(at: number | null): void {
  batch(() => {
    step.value = at;
    if (at !== null) selection.value = stepAt(at)?.op ?? selection.value;
  });
}

/** Default width of the viewport, in ranks. */
const WIDTH = 48;

/** Viewport width for an operation: narrower if its text needs the room on a typical screen, wider if it is long. */
function widthFor(op: Op): number {
  const wanted = (Math.min(op.text.length, 40) + 4) * 7.2;
  const length = op.to - op.from;
  return Math.min(Math.max(WIDTH, Math.min(4 * WIDTH, 3 * length)), Math.max(24, (1000 * length) / wanted));
}

/** A history of at most this many ranks is shown whole: about 32 operations, whose names are still legible. */
export const SMALL = 64;

/** Shows the failure, with most of the viewport before it. Without a failure, shows where the search was widest, or the
 * end of the order if that is unknown. */
export function showFailure(): void {
  void goTo(async past => blocked.value ?? widest() ?? (await endOfOrder(past)));
}

/** Shows the opening view: the failure, or the end of the order, which is also the top of the list of steps. */
export function showOpening(): Promise<void> {
  return goTo(async past => blocked.value ?? (await endOfOrder(past)) ?? widest(), false);
}

/** Shows the operation that `find` returns; selects it if `selects` or if it is blocked. */
async function goTo(find: (past: History) => Promise<number | null>, selects = true): Promise<void> {
  const past = history.value;
  if (!past) return;
  const [looked, chosen] = [viewport.value, selection.value];
  const conflicting = contradicting.value;
  const at = conflicting[0] ?? (await find(past));
  if (at === null) {
    showWhole();
    return;
  }
  for (const place of [at, ...conflicting]) await past.ensure(place, place);
  const op = past.op(at);
  // If the user or a link has moved the view meanwhile, it stays there.
  if (past !== history.value || looked !== viewport.value || chosen !== selection.value) return;
  if (!op) {
    showWhole();
    return;
  }
  const [first, last] = past.span('order');
  let from = first;
  let width = last - first;
  if (conflicting.length > 0) {
    from = op.from;
    width = Math.max(...conflicting.map(place => past.op(place)?.to ?? from)) - from;
    const room = Math.max(SMALL - width, width * 0.2);
    from -= room / 2;
    width += room;
  } else if (width > SMALL) {
    width = Math.min(width, widthFor(op));
    from = Math.min(op.to, op.from + width / 2) - width * 0.7;
  }
  // Nothing to show before the first event or after the last.
  width = Math.min(width, last - first);
  from = Math.max(first, Math.min(from, last - width));
  batch(() => {
    showRange('order', from, from + width);
    if (selects || conflicting.length > 0 || blocked.value === at) select(blocked.value ?? at);
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

export function showWhole(): void {
  const past = history.value;
  if (!past) return;
  const [from, to] = past.span(scale.value);
  viewport.value = { from, to };
}

/** Loads an operation, selects it and shows it. One that is already visible stays where it is, unless `fit`. */
export async function showOperation(at: number, fit = false): Promise<void> {
  const past = history.value;
  await past?.ensure(at, at);
  const op = past?.op(at);
  if (!op) return;
  batch(() => {
    select(at);
    const { from, to } = viewport.value;
    const [start, end] = interval(op);
    const width = to - from;
    // A point takes the room of a moment.
    const length = start === end ? 1 : end - start;
    const visible = start >= from && start <= to && length / width > 0.002;
    if (visible && !fit) return;
    const finish = op.end === null ? op.from + WIDTH / 3 : op.to;
    const room = Math.max(fit ? (finish - op.from) * 0.3 : 0, (WIDTH - (finish - op.from)) / 2, 4);
    showRange('order', op.from - room, Math.min(finish, op.from + 4 * WIDTH) + room);
  });
}

/** The interval of an operation on the current scale. */
export function interval(op: Op): [number, number] {
  if (scale.value === 'order') return [op.from, op.to];
  return [op.start, op.end ?? history.value?.span('time')[1] ?? op.start];
}

/** Shows a range given on scale `on`, converted to the current scale. */
export function showRange(on: Scale, from: number, to: number): void {
  const past = history.value;
  if (!past) return;
  const convert = (x: number) => (on === scale.value ? x : on === 'order' ? past.timeOf(x) : past.rankOf(x));
  setViewport(convert(from), convert(to));
}

/** Changes the scale and keeps the same operations in view. */
export function setScale(next: Scale): void {
  const before = scale.value;
  if (next === before) return;
  const { from, to } = viewport.value;
  // Before the page has opened at the failure, there is no range to keep.
  if (viewport.value === NO_VIEWPORT) {
    scale.value = next;
    return;
  }
  batch(() => {
    scale.value = next;
    showRange(before, from, to);
  });
}

/** Zooms in (`factor` < 1) or out around a point: 0 is the left edge, 1 the right. */
export function zoom(factor: number, around = 0.5): void {
  if (viewport.value === NO_VIEWPORT) return;
  const { from, to } = viewport.value;
  const middle = from + (to - from) * around;
  setViewport(middle - (middle - from) * factor, middle + (to - middle) * factor);
}

/** Pans left (`fraction` < 0) or right, by a fraction of the viewport width. */
export function pan(fraction: number): void {
  if (viewport.value === NO_VIEWPORT) return;
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

export async function start(): Promise<void> {
  parts = openParts();
  await refresh();
  const wrong = problem.value;
  if (head.value === null && wrong !== null && focus.value.length + watch.value.length > 0) {
    // A link whose assumptions the server refuses still opens the page.
    focus.value = [];
    watch.value = [];
    await refresh();
    problem.value ??= wrong;
  }
  const past = history.value;
  if (!past || past.served) return;
  // The rest loads after the first picture.
  await past.loadAll(blocked.value ?? contradicting.value[0] ?? past.size);
}

/** The number of the latest request; answers to earlier ones are dropped. */
let turn = 0;

/** Reloads everything that depends on `focus` and `watch`. Returns true on success. On failure, resets both to the
 * values that the displayed data was loaded with. */
export async function refresh(): Promise<boolean> {
  if (!parts) return false;
  turn += 1;
  const mine = turn;
  const asked = { focus: focus.value, watch: watch.value };
  busy.value = true;
  try {
    const assume = asked.focus.map((text): [string, string] => ['assume', text]);
    const expressions = asked.watch.map((text): [string, string] => ['watch', text]);
    // Both are in a file, and are decompressed at the same time.
    const early = parts.has('states') ? loadStates(parts, []) : null;
    early?.catch(() => {});
    const loaded = await loadJson<Head>(parts, 'head', assume);
    if (loaded.kind === 'index') {
      head.value = loaded;
      return true;
    }
    const past = new History(parts, loaded.timeline, loaded.report, assume, history.value);
    const known = loaded.timeline ? await (early ?? loadStates(parts, [...assume, ...expressions])) : null;
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
        // A different order has different steps.
        step.value = null;
        select(selection.value);
      }
    });
    return true;
  } catch (error) {
    if (mine !== turn) return false;
    const why = error instanceof Error ? error.message : String(error);
    batch(() => {
      problem.value = isStale.value ? `not rechecked; assumptions and verdict are unchanged: ${why}` : why;
      if (head.value === null) return;
      focus.value = answered.value.focus;
      watch.value = answered.value.watch;
    });
    return false;
  } finally {
    if (mine === turn) busy.value = false;
  }
}

/** Loads the states up to an earlier step, in addition to the latest ones. */
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

/** Drops earlier states, and goes to the end of the order. */
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
