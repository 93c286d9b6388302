// Everything the page can be told to do, with its key: the keyboard, the palette and the help are made from this list.

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
  openMenu,
  reveal,
  say,
  showOperation,
  walk,
  walkLane,
  ways,
} from './panels/local.ts';
import {
  allEndings,
  assumed,
  blocked,
  collapsed,
  ending,
  filter,
  focus,
  history,
  pan,
  report,
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

export interface Command {
  /** What it does, as it stands in the palette. */
  title: string;
  /** Keys as `event.key` has them, the first is shown. */
  keys: string[];
  group: 'Move' | 'Walk' | 'Find' | 'Share' | 'Look' | 'Other';
  run: () => void;
  /** Shown only if this holds. */
  when?: () => boolean;
}

const isRun = () => report.value !== null;
const several = () => ways.value > 1;

/** Chooses the next theme. */
export function nextTheme(): void {
  const order: Theme[] = ['auto', 'light', 'dark'];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!;
  say(`theme ${theme.value}`);
}

/** Opens the filter box. */
function toFilter(): void {
  const box = document.getElementById('filter') as HTMLInputElement | null;
  box?.focus();
  box?.select();
}

export function copyLink(): void {
  void copy(address(), 'the link');
}

export function copyMarkdown(): void {
  const link = location.protocol === 'file:' ? null : address();
  if (report.value) void copy(markdown(report.value, assumed.value, link), 'as Markdown');
}

/** Next interpretation, or `-1` the one before. */
export function cycle(by: number): void {
  const open = fitting.value ?? Array.from({ length: ways.value }, (_, way) => way);
  const at = open.indexOf(ending.value);
  if (open.length > 0) choose(open[(at + by + open.length) % open.length]!);
}

function openTab(name: string): void {
  tab.value = name;
  requestAnimationFrame(() => document.getElementById(`tab-${name}`)?.focus());
}

/** The menu of the selected operation, where the focus is. */
function menuOfSelection(): void {
  const at = selection.value;
  const name = at === null ? null : history.value?.name(at);
  if (!name) {
    say('select an operation first');
    return;
  }
  const box = document.activeElement?.getBoundingClientRect();
  const inside = box && box.width > 0 && box.height < 80;
  openMenu({ x: inside ? box.left + 40 : innerWidth / 3, y: inside ? box.bottom : innerHeight / 3, name });
}

/** Closes what is open, one thing at a time. */
function dismiss(): void {
  if (menu.value) menu.value = null;
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
    title: 'Fit the selected operation',
    keys: ['f'],
    run: () => {
      if (selection.value !== null) void showOperation(selection.value, true);
    },
    when: isRun,
  },
  { group: 'Move', title: 'Whole history', keys: ['0'], run: showWhole, when: isRun },
  {
    group: 'Walk',
    title: 'Jump to the failure',
    keys: ['e'],
    run: showFailure,
    when: isRun,
  },
  { group: 'Walk', title: 'One step back in the list', keys: ['j'], run: () => walk(1), when: isRun },
  { group: 'Walk', title: 'One step forward in the list', keys: ['k'], run: () => walk(-1), when: isRun },
  { group: 'Walk', title: 'Next operation of the process', keys: ['.'], run: () => void walkLane(1), when: isRun },
  { group: 'Walk', title: 'Previous operation of the process', keys: [','], run: () => void walkLane(-1), when: isRun },
  {
    group: 'Walk',
    title: 'Reveal where the stuck operations first were available',
    keys: ['r'],
    run: () => void reveal(),
    when: () => blocked.value !== null,
  },
  { group: 'Walk', title: 'Next interpretation', keys: ['x'], run: () => cycle(1), when: several },
  { group: 'Walk', title: 'Go to why it is stuck', keys: ['y'], run: () => toWhy(), when: isRun },
  { group: 'Walk', title: 'Assume an order or a state', keys: ['p'], run: menuOfSelection, when: isRun },
  { group: 'Find', title: 'Find operations', keys: ['/'], run: toFilter },
  { group: 'Find', title: 'Next match', keys: ['n'], run: () => void nextMatch(1), when: isRun },
  { group: 'Find', title: 'Previous match', keys: ['N'], run: () => void nextMatch(-1), when: isRun },
  {
    group: 'Look',
    title: 'Order or time',
    keys: ['o'],
    run: () => setScale(scale.value === 'order' ? 'time' : 'order'),
    when: isRun,
  },
  {
    group: 'Look',
    title: 'Show all interpretations at once',
    keys: [],
    run: () => (allEndings.value = !allEndings.value),
    when: several,
  },
  {
    group: 'Look',
    title: 'Fold or show lanes that have no part',
    keys: [],
    run: () => (collapsed.value = !collapsed.value),
    when: isRun,
  },
  { group: 'Look', title: 'Next theme', keys: [], run: nextTheme },
  { group: 'Look', title: 'Tab: Steps', keys: [], run: () => openTab('steps'), when: isRun },
  { group: 'Look', title: 'Tab: Interpretations', keys: [], run: () => openTab('interpretations'), when: several },
  { group: 'Look', title: 'Tab: State', keys: [], run: () => openTab('state'), when: isRun },
  { group: 'Look', title: 'Tab: Spec', keys: [], run: () => openTab('spec'), when: isRun },
  { group: 'Look', title: 'Tab: Log', keys: [], run: () => openTab('log'), when: isRun },
  { group: 'Look', title: 'Tab: Coverage', keys: [], run: () => openTab('coverage'), when: isRun },
  { group: 'Look', title: 'Tab: Search', keys: [], run: () => openTab('search'), when: isRun },
  { group: 'Share', title: 'Copy a link to this view', keys: ['c'], run: copyLink },
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
  { group: 'Other', title: 'Clear: menu, filter, selection', keys: ['Escape'], run: dismiss },
  { group: 'Other', title: 'Help', keys: ['?'], run: () => (dialog.value = 'help') },
];

/** Puts the focus on the part that is false, or on the first card. */
function toWhy(): void {
  const side = document.getElementById('why');
  const find = (selector: string) => side?.querySelector<HTMLElement>(selector);
  const target = find('li.bad .conjunct') ?? find('li.odd .conjunct') ?? find('.card button') ?? side;
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}
