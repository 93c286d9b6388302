// Keeps the address of the page and what is on the screen the same: reads a link at the start, writes it as things
// change. What a fresh page would show anyway is left out of the link.

import { batch, effect } from '@preact/signals';
import { format, type Link, parse } from './link.ts';
import { setAssumptions } from './panels/focus.ts';
import { arriving, choose, clear, showOperation } from './panels/local.ts';
import {
  blocked,
  ending,
  filter,
  focus,
  history,
  look,
  scale,
  selection,
  selectStep,
  setScale,
  showOpening,
  step,
  stepOf,
  tab,
  viewport,
  watch,
} from './state.ts';

/** The link that the page was opened with has been read. */
let isRead = false;
/** Somebody has done something: before that, the address is the one that was opened. */
let isTouched = false;
const TOUCHES = ['keydown', 'pointerdown', 'wheel', 'input'];

/** What needs no data, before anything is loaded: assumptions are part of the question that a server is asked. */
export function readEarly(): Link {
  const link = parse(location.hash);
  focus.value = link.focus;
  watch.value = link.watch;
  if (link.tab) tab.value = link.tab;
  if (link.q) filter.value = link.q;
  return link;
}

/** Follows the address, and writes it. `link` is the one that the page was opened with. */
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

/** Shows what a link says, on a page that was just opened. */
async function apply(link: Link): Promise<void> {
  const past = history.value;
  if (!past) return;
  const stuck = blocked.value;
  // The page opens at the failure first; what the link says comes after.
  if (stuck !== null) await past.ensure(stuck, stuck);
  await Promise.resolve();
  if (link.tab) tab.value = link.tab;
  if (link.q !== undefined) filter.value = link.q;
  if (link.ending !== undefined) choose(link.ending - 1);
  if (link.op !== undefined) {
    const place = await past.place(link.op);
    if (place !== null) await showOperation(place);
  }
  if (link.step !== undefined) {
    await past.ensureSteps(link.step - 1, link.step - 1);
    selectStep(link.step - 1);
  }
  if (link.scale) setScale(link.scale);
  if (link.x) look(link.scale ?? scale.value, link.x[0], link.x[1]);
}

/** Shows what another link says, on a page where something else is on the screen: what the link leaves out is as on a
 * page that was just opened. */
async function replace(link: Link): Promise<void> {
  if (JSON.stringify([link.focus, link.watch]) !== JSON.stringify([focus.value, watch.value])) {
    watch.value = link.watch;
    await setAssumptions(link.focus);
  }
  batch(() => {
    tab.value = 'steps';
    filter.value = '';
    ending.value = 0;
    clear();
    setScale('order');
  });
  await showOpening();
  await apply(link);
}

/** The link of what is on the screen, without `#`. */
function current(): string {
  const at = selection.value;
  const name = at === null ? null : (arriving()?.name(at) ?? null);
  const { from, to } = viewport.value;
  const link: Link = { focus: focus.value, watch: watch.value, x: [from, to], scale: scale.value };
  if (name !== null) link.op = name;
  // A link to an operation alone leads to its last step, and to where it is stuck if it is.
  const leads = at === null ? null : at === blocked.value ? null : stepOf(at);
  if (at !== null && step.value !== null && stepOf(at) !== null && step.value !== leads) link.step = step.value + 1;
  if (tab.value !== 'steps') link.tab = tab.value;
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

/** The address that leads back here. */
export function address(): string {
  return `${location.href.replace(/#.*$/, '')}#${current()}`;
}
