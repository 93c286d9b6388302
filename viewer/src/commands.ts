// All commands with their keys. The keyboard, the palette and the help are generated from this list.

import { saveImage } from './export/image.ts';
import { markdown } from './markdown.ts';
import { nextMatch } from './panels/find.ts';
import { dropAll, fitting, pending } from './panels/focus.ts';
import {
  choose,
  clear,
  copy,
  dialog,
  menu,
  notify,
  openMenu,
  reveal,
  showOperation,
  walk,
  walkLane,
  ways,
} from './panels/local.ts';
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
  showWhole,
  type Theme,
  tab,
  theme,
  zoom,
} from './state.ts';
import { address } from './sync.ts';
import { measured } from './timeline/measure.tsx';

export interface Command {
  /** Label in the palette. */
  title: string;
  /** Values of `event.key`; the first is shown. */
  keys: string[];
  group: 'Move' | 'Navigate' | 'Find' | 'Share' | 'View' | 'Other';
  run: () => void;
  /** The command is available only if this is true. */
  when?: () => boolean;
}

const isRun = () => report.value !== null;
const several = () => ways.value > 1;

/** Switches to the next theme. */
export function nextTheme(): void {
  const order: Theme[] = ['auto', 'light', 'dark'];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!;
  notify(`theme ${theme.value}`);
}

/** Focuses the filter box. */
function focusFilter(): void {
  const box = document.getElementById('filter') as HTMLInputElement | null;
  box?.focus();
  box?.select();
}

export function copyLink(): void {
  void copy(address(), 'link');
}

export function copyMarkdown(): void {
  const link = location.protocol === 'file:' ? null : address();
  if (report.value) void copy(markdown(report.value, assumed.value, link, run.value?.run), 'Markdown');
}

/** Next interpretation, or the previous one for `-1`. */
export function cycle(by: number): void {
  const open = fitting.value ?? Array.from({ length: ways.value }, (_, way) => way);
  const at = open.indexOf(ending.value);
  if (open.length > 0) choose(open[(at + by + open.length) % open.length]!);
}

/** Opens a tab and focuses it. */
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

export const COMMANDS: Command[] = [
  { group: 'Move', title: 'Zoom in', keys: ['w'], run: () => zoom(0.7), when: isRun },
  { group: 'Move', title: 'Zoom out', keys: ['s'], run: () => zoom(1 / 0.7), when: isRun },
  { group: 'Move', title: 'Move left', keys: ['a'], run: () => pan(-0.2), when: isRun },
  { group: 'Move', title: 'Move right', keys: ['d'], run: () => pan(0.2), when: isRun },
  {
    group: 'Move',
    title: 'Zoom to the selected operation',
    keys: ['f'],
    run: () => {
      if (selection.value !== null) void showOperation(selection.value, true);
    },
    when: isRun,
  },
  { group: 'Move', title: 'Show the whole history', keys: ['0'], run: showWhole, when: isRun },
  {
    group: 'Navigate',
    title: 'Jump to the failure',
    keys: ['e'],
    run: showFailure,
    when: isRun,
  },
  { group: 'Navigate', title: 'Previous step (down the list)', keys: ['j'], run: () => walk(1), when: isRun },
  { group: 'Navigate', title: 'Next step (up the list)', keys: ['k'], run: () => walk(-1), when: isRun },
  { group: 'Navigate', title: 'Next operation of the process', keys: ['.'], run: () => void walkLane(1), when: isRun },
  {
    group: 'Navigate',
    title: 'Previous operation of the process',
    keys: [','],
    run: () => void walkLane(-1),
    when: isRun,
  },
  {
    group: 'Navigate',
    title: 'Go to the earliest step where the failing operation could be next',
    keys: ['r'],
    run: () => void reveal(),
    when: () => blocked.value !== null,
  },
  { group: 'Navigate', title: 'Next order', keys: ['x'], run: () => cycle(1), when: several },
  { group: 'Navigate', title: 'Go to the explanation', keys: ['y'], run: () => focusExplanation(), when: isRun },
  { group: 'Navigate', title: 'Assume an order or a state', keys: ['p'], run: openSelectionMenu, when: isRun },
  { group: 'Find', title: 'Find operations', keys: ['/'], run: focusFilter },
  { group: 'Find', title: 'Next match', keys: ['n'], run: () => void nextMatch(1), when: isRun },
  { group: 'Find', title: 'Previous match', keys: ['N'], run: () => void nextMatch(-1), when: isRun },
  {
    group: 'View',
    title: 'Switch between order and time',
    keys: ['o'],
    run: () => setScale(scale.value === 'order' ? 'time' : 'order'),
    when: isRun,
  },
  {
    group: 'View',
    title: 'Show all possible orders at once',
    keys: [],
    run: () => (allEndings.value = !allEndings.value),
    when: several,
  },
  {
    group: 'View',
    title: 'Hide or show uninvolved lanes',
    keys: [],
    run: () => (collapsed.value = !collapsed.value),
    when: isRun,
  },
  {
    group: 'View',
    title: 'Order lanes by name or by node',
    keys: ['l'],
    run: () => {
      laneOrder.value = laneOrder.value === 'name' ? 'node' : 'name';
      notify(`lanes by ${laneOrder.value}`);
    },
    when: () => history.value?.hasNodes === true,
  },
  { group: 'View', title: 'Next theme', keys: [], run: nextTheme },
  ...Object.entries(TABS).map(
    ([name, title]): Command => ({
      group: 'View',
      title: `Tab: ${title}`,
      keys: [],
      run: () => openTab(name),
      when: () => tabsNow.value.includes(name),
    }),
  ),
  { group: 'Share', title: 'Copy link to this view', keys: ['c'], run: copyLink },
  { group: 'Share', title: 'Copy as Markdown', keys: [], run: copyMarkdown, when: isRun },
  { group: 'Share', title: 'Save the timeline as SVG', keys: [], run: () => void saveImage('svg'), when: isRun },
  { group: 'Share', title: 'Save the timeline as PNG', keys: [], run: () => void saveImage('png'), when: isRun },
  { group: 'Share', title: 'Print', keys: [], run: () => print() },
  {
    group: 'Other',
    title: 'Drop all assumptions',
    keys: [],
    run: dropAll,
    when: () => focus.value.length > 0,
  },
  { group: 'Other', title: 'Close the menu, clear the filter, clear the selection', keys: ['Escape'], run: dismiss },
  { group: 'Other', title: 'Help', keys: ['?'], run: () => (dialog.value = 'help') },
];

/** Focuses the false conjunct, or the first card. */
function focusExplanation(): void {
  const side = document.getElementById('why');
  const find = (selector: string) => side?.querySelector<HTMLElement>(selector);
  const target = find('li.bad .conjunct') ?? find('li.odd .conjunct') ?? find('.card button') ?? side;
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}
