// Keeps the URL fragment and the view in sync: reads the link at startup, and rewrites it when the view changes. The
// link omits what a fresh page shows by default.

import { batch, effect } from '@preact/signals';
import { format, type Link, parse } from './link.ts';
import { setAssumptions } from './panels/focus.ts';
import { choose, clear, liveHistory, showNamed } from './panels/local.ts';
import {
  blocked,
  ending,
  filter,
  focus,
  history,
  scale,
  selection,
  selectStep,
  setScale,
  showOpening,
  showRange,
  step,
  stepOf,
  tab,
  viewport,
  watch,
} from './state.ts';

let isRead = false;
/** True after the first user input. Until then, the URL is left as opened. */
let isTouched = false;
const TOUCHES = ['keydown', 'pointerdown', 'wheel', 'input'];

/** Applies the parts of the link that need no data. Runs before loading: assumptions are part of the request. */
export function readEarly(): Link {
  const link = parse(location.hash);
  focus.value = link.focus;
  watch.value = link.watch;
  if (link.tab) tab.value = link.tab;
  if (link.q) filter.value = link.q;
  return link;
}

/** Starts syncing with the URL. `link` is the initial link. */
export function followLink(link: Link): () => void {
  const stopRead = effect(() => {
    const past = history.value;
    if (!past || isRead) return;
    isRead = true;
    void apply(link);
  });
  let timer = 0;
  const stopWrite = effect(() => {
    const hash = current();
    clearTimeout(timer);
    timer = window.setTimeout(() => write(hash), 250);
  });
  const onHash = () => {
    const next = parse(location.hash);
    if (location.hash.replace(/^#/, '') !== current()) void replace(next);
  };
  const onTouch = () => {
    isTouched = true;
  };
  addEventListener('hashchange', onHash);
  for (const name of TOUCHES) addEventListener(name, onTouch, { capture: true, passive: true });
  return () => {
    stopRead();
    stopWrite();
    removeEventListener('hashchange', onHash);
    for (const name of TOUCHES) removeEventListener(name, onTouch, { capture: true });
  };
}

/** Applies a link to a freshly opened page. */
async function apply(link: Link): Promise<void> {
  const past = history.value;
  if (!past) return;
  const stuck = blocked.value;
  // The page opens at the failure first; the link overrides that.
  if (stuck !== null) await past.ensure(stuck, stuck);
  await Promise.resolve();
  if (link.tab) tab.value = link.tab;
  if (link.q !== undefined) filter.value = link.q;
  if (link.ending !== undefined) choose(link.ending - 1);
  if (link.op !== undefined) await showNamed(link.op);
  if (link.step !== undefined) {
    await past.ensureSteps(link.step - 1, link.step - 1);
    selectStep(link.step - 1);
  }
  if (link.scale) setScale(link.scale);
  if (link.x) showRange(link.scale ?? scale.value, link.x[0], link.x[1]);
}

/** Applies a link to a page in use: whatever the link omits is reset to its default. */
async function replace(link: Link): Promise<void> {
  if (JSON.stringify([link.focus, link.watch]) !== JSON.stringify([focus.value, watch.value])) {
    watch.value = link.watch;
    await setAssumptions(link.focus);
  }
  batch(() => {
    tab.value = '';
    filter.value = '';
    ending.value = 0;
    clear();
    setScale('order');
  });
  await showOpening();
  await apply(link);
}

/** The link to the current view, without `#`. */
function current(): string {
  const at = selection.value;
  const name = at === null ? null : (liveHistory()?.name(at) ?? null);
  const { from, to } = viewport.value;
  const link: Link = { focus: focus.value, watch: watch.value, x: [from, to], scale: scale.value };
  if (name !== null) link.op = name;
  // A link to an operation alone selects its last step, or the failure for the blocked operation.
  const leads = at === null ? null : at === blocked.value ? null : stepOf(at);
  if (at !== null && step.value !== null && stepOf(at) !== null && step.value !== leads) link.step = step.value + 1;
  if (tab.value) link.tab = tab.value;
  if (ending.value > 0) link.ending = ending.value + 1;
  if (filter.value) link.q = filter.value;
  return format(link);
}

function write(hash: string): void {
  const wanted = `#${hash}`;
  if (!isTouched || wanted === location.hash) return;
  try {
    window.history.replaceState(null, '', wanted);
  } catch {
    // Some browsers refuse this for files; the link can still be copied.
  }
}

export function address(): string {
  return `${location.href.replace(/#.*$/, '')}#${current()}`;
}
