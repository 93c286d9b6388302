// All commands with their keys. The keyboard, the palette and the help are generated from this list.

import { saveImage } from './export/image.ts';
import { markdown } from './markdown.ts';
import { nextMatch } from './panels/find.ts';
import { dropAll, fitting, pending } from './panels/focus.ts';
import { choose, clear, copy, dialog, menu, notify, openMenu, reveal, walk, walkLane, ways } from './panels/local.ts';
import { TABS, tabsNow } from './panels/tabs.ts';
import {
  allEndings,
  assumed,
  blocked,
  collapsed,
  ending,
  filter,
  focus,
  history,
  laneOrder,
  pan,
  report,
  run,
  scale,
  selection,
  setScale,
  showFailure,
  showOperation,
  showWhole,
  type Theme,
  tab,
  theme,
  zoom,
} from './state.ts';
import { address } from './sync.ts';
import { measured } from './timeline/measure.tsx';

export interface Command {
  title: string;
  /** The value of `event.key`; empty if it has no key. */
  key: string;
  group: 'Move' | 'Navigate' | 'Find' | 'Share' | 'View' | 'Other';
  run: () => void;
  /** The command is available only if this is true. */
  when: () => boolean;
}

const isRun = () => report.value !== null;
const isStuck = () => blocked.value !== null;
const several = () => ways.value > 1;

/** Switches to the next theme. */
export function nextTheme(): void {
  const order: Theme[] = ['auto', 'light', 'dark'];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!;
  notify(`theme ${theme.value}`);
}

function nextLaneOrder(): void {
  laneOrder.value = laneOrder.value === 'name' ? 'node' : 'name';
  notify(`lanes by ${laneOrder.value}`);
}

async function zoomToSelection(): Promise<void> {
  if (selection.value !== null) await showOperation(selection.value, true);
}

function focusFilter(): void {
  const box = document.getElementById('filter') as HTMLInputElement | null;
  box?.focus();
  box?.select();
}

function copyLink(): void {
  void copy(address(), 'link');
}

function copyMarkdown(): void {
  const link = location.protocol === 'file:' ? null : address();
  if (report.value) void copy(markdown(report.value, assumed.value, link, run.value?.run), 'Markdown');
}

/** Next interpretation, or the previous one for `-1`. */
export function cycle(by: number): void {
  const open = fitting.value ?? Array.from({ length: ways.value }, (_, way) => way);
  const at = open.indexOf(ending.value);
  if (open.length > 0) choose(open[(at + by + open.length) % open.length]!);
}

export function openTab(name: string): void {
  tab.value = name;
  requestAnimationFrame(() => document.getElementById(`tab-${name}`)?.focus());
}

/** Opens the menu of the selected operation at the focused element. */
function openSelectionMenu(): void {
  const at = selection.value;
  const name = at === null ? null : history.value?.name(at);
  if (!name) {
    notify('select an operation first');
    return;
  }
  const box = document.activeElement?.getBoundingClientRect();
  const inside = box && box.width > 0 && box.height < 80;
  openMenu({ x: inside ? box.left + 40 : innerWidth / 3, y: inside ? box.bottom : innerHeight / 3, name });
}

/** Closes the menu, else the measured range, else the pending assumption, else the filter, else the selection. */
function dismiss(): void {
  if (menu.value) menu.value = null;
  else if (measured.value) measured.value = null;
  else if (pending.value) pending.value = null;
  else if (filter.value) filter.value = '';
  else clear();
}

/** A row of the list. */
function row(
  group: Command['group'],
  title: string,
  key: string,
  run: () => void,
  when: () => boolean = () => true,
): Command {
  return { group, title, key, run, when };
}

export const COMMANDS: Command[] = [
  row('Move', 'Zoom in', 'w', () => zoom(0.7), isRun),
  row('Move', 'Zoom out', 's', () => zoom(1 / 0.7), isRun),
  row('Move', 'Move left', 'a', () => pan(-0.2), isRun),
  row('Move', 'Move right', 'd', () => pan(0.2), isRun),
  row('Move', 'Zoom to the selected operation', 'f', () => void zoomToSelection(), isRun),
  row('Move', 'Show the whole history', '0', showWhole, isRun),
  row('Navigate', 'Jump to the failure, or to the end of the order', 'e', showFailure, isRun),
  row('Navigate', 'Previous step (down the list)', 'j', () => walk(1), isRun),
  row('Navigate', 'Next step (up the list)', 'k', () => walk(-1), isRun),
  row('Navigate', 'Next operation of the process', '.', () => void walkLane(1), isRun),
  row('Navigate', 'Previous operation of the process', ',', () => void walkLane(-1), isRun),
  row(
    'Navigate',
    'Go to the earliest step where the failing operation could be next',
    'r',
    () => void reveal(),
    isStuck,
  ),
  row('Navigate', 'Next order', 'x', () => cycle(1), several),
  row('Navigate', 'Go to the explanation', 'y', focusExplanation, isRun),
  row('Navigate', 'Assume an order or a state', 'p', openSelectionMenu, isRun),
  row('Find', 'Find operations', '/', focusFilter),
  row('Find', 'Next match', 'n', () => void nextMatch(1), isRun),
  row('Find', 'Previous match', 'N', () => void nextMatch(-1), isRun),
  row('View', 'Switch between order and time', 'o', () => setScale(scale.value === 'order' ? 'time' : 'order'), isRun),
  row('View', 'Show all possible orders at once', '', () => (allEndings.value = !allEndings.value), several),
  row('View', 'Hide or show uninvolved lanes', '', () => (collapsed.value = !collapsed.value), isRun),
  row('View', 'Order lanes by name or by node', 'l', nextLaneOrder, () => history.value?.hasNodes === true),
  row('View', 'Next theme', '', nextTheme),
  ...Object.entries(TABS).map(([name, title]) =>
    row(
      'View',
      `Tab: ${title}`,
      '',
      () => openTab(name),
      () => tabsNow.value.includes(name),
    ),
  ),
  row('Share', 'Copy link to this view', 'c', copyLink),
  row('Share', 'Copy as Markdown', '', copyMarkdown, isRun),
  row('Share', 'Save the timeline as SVG', '', () => void saveImage('svg'), isRun),
  row('Share', 'Save the timeline as PNG', '', () => void saveImage('png'), isRun),
  row('Share', 'Print', '', () => print()),
  row('Other', 'Drop all assumptions', '', dropAll, () => focus.value.length > 0),
  row('Other', 'Close the menu, clear the filter, clear the selection', 'Escape', dismiss),
  row('Other', 'Help', '?', () => (dialog.value = 'help')),
];

/** Focuses the false conjunct, or the first card. */
function focusExplanation(): void {
  const side = document.getElementById('why');
  const find = (selector: string) => side?.querySelector<HTMLElement>(selector);
  const target = find('li.bad .conjunct') ?? find('li.odd .conjunct') ?? find('.card button') ?? side;
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}
