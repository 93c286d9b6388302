// The tabs of a page: which there are, and which of them are behind *More*.

import { computed } from '@preact/signals';
import { verdictView } from '../data/verdict.ts';
import { contradicting, history, run, tab } from '../state.ts';
import { ways } from './local.ts';

/** All tabs by name, in their order. Names are part of links. */
export const TABS: Record<string, string> = {
  schedule: 'Schedule',
  steps: 'Steps',
  state: 'State',
  spec: 'Specification',
  log: 'Operation',
  compare: 'Compare',
  interpretations: 'Orders',
  search: 'Cost',
  latency: 'Latency',
  coverage: 'Coverage',
};

/** Tabs that are behind *More* unless they are chosen. */
const MORE = ['latency', 'coverage'];

export const tabsNow = computed<string[]>(() => {
  const page = run.value;
  if (!page) return [];
  const { kind } = verdictView(page.report);
  const hasStates = contradicting.value.length === 0 && kind !== 'inconclusive';
  const isIsolation = !!page.report.isolation;
  const without: Record<string, boolean> = {
    spec: isIsolation,
    search: isIsolation,
    schedule: !page.report.interleaving,
    interpretations: kind !== 'stuck' || ways.value < 2,
    state: !hasStates || isIsolation,
    compare: !page.compared,
    // Events of a log have no duration.
    latency: history.value?.hasPoints !== false,
  };
  return Object.keys(TABS).filter(name => !without[name]);
});

/** The chosen tab: at first the schedule of a controlled run, else the steps. */
export const tabNow = computed<string>(
  () => (tabsNow.value.includes(tab.value) ? tab.value : tabsNow.value[0]!) ?? 'steps',
);

/** The tabs of the row, and those behind *More*. */
export const tabRow = computed<{ shown: string[]; more: string[] }>(() => {
  const isMore = (name: string) => MORE.includes(name) && name !== tabNow.value;
  return { shown: tabsNow.value.filter(name => !isMore(name)), more: tabsNow.value.filter(isMore) };
});
