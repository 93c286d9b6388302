// Runs the query of the filter box over the history, and moves between matches.

import { effect, signal } from '@preact/signals';
import { search } from '../data/history.ts';
import { type Candidate, matcher, parse } from '../search.ts';
import { filter, history, matches, selection, showOperation, statusOf } from '../state.ts';
import { count } from '../text.ts';
import { announce, notify } from './local.ts';

export const mistakes = signal<string[]>([]);
/** True from a change of the query until its matches are known. */
export const isSearching = signal(false);
/** True until the first jump to a match of the current query. */
let isFresh = true;
/** Direction of an Enter that was pressed during the search. */
let entered: 1 | -1 | null = null;

/** Searches whenever the query or the history changes. */
export function followFilter(): () => void {
  let turn = 0;
  return effect(() => {
    const query = filter.value;
    const past = history.value;
    turn += 1;
    const mine = turn;
    isFresh = true;
    entered = null;
    if (!past || query.trim() === '') {
      matches.value = null;
      mistakes.value = [];
      isSearching.value = false;
      return;
    }
    isSearching.value = true;
    setTimeout(async () => {
      if (mine !== turn) return;
      const fields = new Set<string>();
      for (const shape of past.timeline.shapes)
        for (const name of [...shape.args, ...shape.results, ...shape.meta]) if (name) fields.add(name);
      const read = parse(query, [...fields].slice(0, 60));
      mistakes.value = read.errors;
      if (read.terms.length === 0) {
        matches.value = null;
        isSearching.value = false;
        return;
      }
      const others = new Map<string, { start: number; end: number | null }>();
      for (const term of read.terms) {
        if (term.kind !== 'before' && term.kind !== 'after' && term.kind !== 'overlaps') continue;
        const place = await past.place(term.value);
        const op = place === null ? null : past.op(place);
        if (op) others.set(term.value, op);
      }
      const { test, errors } = matcher(read, name => others.get(name) ?? null);
      mistakes.value = [...read.errors, ...errors];
      const found: number[] = [];
      const processes = past.timeline.processes;
      const needsStatus = read.terms.some(term => term.kind === 'status');
      if (needsStatus) await past.ensureSteps(0, past.timeline.steps - 1);
      await past.scan(
        op => {
          const candidate: Candidate = {
            name: op.name,
            process: processes[op.process] ?? '',
            action: op.action,
            text: op.text,
            start: op.start,
            end: op.end,
            status: needsStatus ? statusOf(op.at) : '',
            fields: [...op.args, ...op.results, ...op.meta],
          };
          if (test(candidate)) found.push(op.at);
        },
        () => mine !== turn,
      );
      if (mine !== turn) return;
      matches.value = found;
      isSearching.value = false;
      if (entered !== null) void enterMatch(entered);
    }, 120);
  });
}

/** The number of matches before a place. */
export function rankAmong(found: ArrayLike<number>, place: number): number {
  return search(found.length, i => found[i]! >= place);
}

/** Handles Enter in the filter box: goes to the first match of a new query (the last for `-1`), then to the next. If
 * the search is still running, goes there when it ends. */
export async function enterMatch(by: 1 | -1): Promise<void> {
  const found = matches.value;
  if (isSearching.value) entered = by;
  else if (isFresh && found && found.length > 0) await goToMatch(found, by > 0 ? 0 : found.length - 1);
  else await nextMatch(by);
}

/** Goes to the next match after the selection, or to the previous one for `-1`. */
export async function nextMatch(by: 1 | -1): Promise<void> {
  const found = matches.value;
  if (!found || found.length === 0) {
    notify(found ? 'no matches' : 'no filter');
    return;
  }
  const now = selection.value;
  const at = now === null ? (by > 0 ? -1 : found.length) : rankAmong(found, now);
  const on = now !== null && found[at] === now;
  const next = by > 0 ? (on ? at + 1 : now === null ? 0 : at) : at - 1;
  await goToMatch(found, (next + found.length) % found.length);
}

async function goToMatch(found: number[], at: number): Promise<void> {
  isFresh = false;
  await showOperation(found[at]!);
  announce(`match ${count(at + 1)} of ${count(found.length)}`);
}
