// All possible orders side by side, one per column, newest step on top.
//
// They differ only in their last steps. Adjacent columns with the same state share a cell, and columns that
// are stuck for the same reason form a group that can be folded. Clicking a cell selects the order and the step; assuming its state hides the columns that do not fit.

import { signal } from '@preact/signals';
import type { Report } from '../data/types.ts';
import { type StuckView, stuckIn } from '../data/verdict.ts';
import { ending, report, states, step } from '../state.ts';
import { brief, count, letter, many } from '../text.ts';
import { assume, fitting } from './focus.ts';
import { choose, liveHistory, menuOf, showStep, ways } from './local.ts';
import { reasonText } from './outcome.ts';
import { Button } from './parts.tsx';

/** Maximum number of columns. */
const COLUMNS = 24;
const ROWS = 40;

const folded = signal<ReadonlySet<string>>(new Set());
const moreRows = signal(0);

interface Group {
  key: string;
  title: string;
  ways: number[];
}

/** Groups orders by the reason they are stuck, largest group first. */
function byReason(about: Report, stuck: StuckView, ways: number[]): Group[] {
  const groups = new Map<string, Group>();
  for (const way of ways) {
    const state = stuck.interpretations[way]?.state ?? -1;
    const reasons = stuck.reasons.filter(
      reason => reason.states.includes(state) && (stuck.blocked.length === 0 || stuck.blocked.includes(reason.op)),
    );
    const key = reasons.map(reason => stuck.reasons.indexOf(reason)).join(',');
    const title = reasons.length === 0 ? '' : reasons.map(reason => reasonText(about, reason.why)).join('; ');
    const group = groups.get(key) ?? { key, title, ways: [] };
    group.ways.push(way);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.ways.length - a.ways.length);
}

export function Orders() {
  const about = report.value;
  const known = states.value;
  const past = liveHistory();
  const verdict = stuckIn(about);
  if (!about || !past || !verdict) return <p class="empty">No failure to explain.</p>;
  if (!known) {
    return (
      <p class="empty">
        This page has only the report. Choose among {many(ways.value, 'order')} with ‹ and › above; the Steps tab shows
        the last steps of the chosen one.
      </p>
    );
  }
  const { endings } = known.part;
  if (endings.length === 0) return <p class="empty">This page does not contain the steps of the orders.</p>;
  const fit = fitting.value;
  const all = endings.map((_, way) => way).filter(way => fit === null || fit.includes(way));
  // Puts equal paths next to each other, so that they share cells.
  const path = (way: number) => endings[way]!.ids.join(' ');
  const sorted = [...all].sort((a, b) => (path(a) < path(b) ? -1 : path(a) > path(b) ? 1 : a - b));
  const groups = byReason(about, verdict, sorted);
  const open = groups.filter(group => !folded.value.has(group.key));
  let room = COLUMNS;
  const columns = open.flatMap(group => {
    const shown = group.ways.slice(0, Math.max(0, room));
    room -= shown.length;
    return shown;
  });
  // Always includes the chosen order.
  if (all.includes(ending.value) && !columns.includes(ending.value))
    columns[Math.max(0, columns.length - 1)] = ending.value;
  const common = past.timeline.steps;
  const depth = Math.max(0, ...columns.map(way => endings[way]!.steps.length));
  const rows = Math.min(depth, ROWS + moreRows.value);
  const more = verdict.interpretations.length - endings.length;
  return (
    <div class="padded interpretations">
      <p class="quiet">
        {many(verdict.interpretations.length, 'order')} of the {count(verdict.explained)} explained operations; the
        first {count(common)} steps are common to all.
        {fit !== null && ` ${fit.length} of ${endings.length} fit the assumptions.`}
        {more > 0 && ` ${count(more)} not in this page.`}
      </p>
      <ul class="groups">
        {groups.slice(0, 40).map(group => {
          const isOpen = !folded.value.has(group.key);
          return (
            <li>
              <Button
                class="fold"
                aria-expanded={isOpen}
                onClick={() => {
                  const next = new Set(folded.value);
                  if (isOpen) next.add(group.key);
                  else next.delete(group.key);
                  folded.value = next;
                }}
              >
                {isOpen ? '▾' : '▸'} {many(group.ways.length, 'order')} stuck
                {group.title && ` because ${brief(group.title, 160)}`}
              </Button>
            </li>
          );
        })}
      </ul>
      {columns.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Orders, newest step on top">
          <table class="ways">
            <thead>
              <tr>
                <th scope="col">step</th>
                {columns.map(way => (
                  <th scope="col">
                    <Button
                      class={`letter ${way === ending.value ? 'chosen' : ''}`}
                      aria-pressed={way === ending.value}
                      onClick={() => choose(way)}
                    >
                      {way + 1}
                    </Button>{' '}
                    → {letter(verdict.interpretations[way]?.state ?? 0)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: rows }, (_, row) => depth - 1 - row).map(at => (
                <tr>
                  <th scope="row">#{count(common + at + 1)}</th>
                  {cells(columns, at).map(({ ways }) => (
                    <Cell ways={ways} at={at} common={common} />
                  ))}
                </tr>
              ))}
              {rows < depth && (
                <tr>
                  <th scope="row">…</th>
                  <td colSpan={columns.length}>
                    <Button class="more" onClick={() => (moreRows.value += ROWS)}>
                      {count(depth - rows)} more steps
                    </Button>
                  </td>
                </tr>
              )}
              <tr>
                <th scope="row">#{count(common)}</th>
                <td colSpan={columns.length} class="trunk">
                  {common === 0 ? (
                    'initial state'
                  ) : (
                    <Button class="op" onClick={() => void showStep(common - 1)}>
                      last common step
                    </Button>
                  )}
                </td>
              </tr>
            </tbody>
          </table>
        </div>
      )}
      {room < 0 || columns.length < open.reduce((sum, group) => sum + group.ways.length, 0) ? (
        <p class="quiet">Showing the first {columns.length}. Fold a group or assume a state to see others.</p>
      ) : null}
    </div>
  );
}

/** Merges adjacent columns that are in the same state after the step. */
function cells(columns: number[], at: number): { ways: number[] }[] {
  const { endings } = states.value!.part;
  const found: { ways: number[]; id: string | undefined }[] = [];
  for (const way of columns) {
    const id = endings[way]!.ids[at] ?? (at < endings[way]!.steps.length ? `?${way}` : undefined);
    const last = found[found.length - 1];
    const same = last && last.id === id && endings[last.ways[0]!]!.steps[at]?.op === endings[way]!.steps[at]?.op;
    if (same) last.ways.push(way);
    else found.push({ ways: [way], id });
  }
  return found;
}

function Cell({ ways, at, common }: { ways: number[]; at: number; common: number }) {
  const past = liveHistory()!;
  const first = ways[0]!;
  const end = states.value!.part.endings[first]!;
  const taken = end.steps[at];
  if (!taken) return <td colSpan={ways.length} class="none" />;
  const op = past.op(taken.op);
  const id = end.ids[at];
  const chosen = ways.includes(ending.value) && step.value === common + at;
  // The last step leads to one of the possible states, which have letters.
  const isLast = at === end.steps.length - 1;
  const last = isLast ? (stuckIn(report.value)?.interpretations[first]?.state ?? null) : null;
  return (
    <td
      colSpan={ways.length}
      class={`${ways.includes(ending.value) ? 'chosen' : ''} ${chosen ? 'active' : ''}`}
      onContextMenu={menuOf({ ...(op ? { name: op.name } : {}), ...(id && !taken.partway ? { state: id } : {}) })}
    >
      <Button
        class="op"
        onClick={() => {
          if (!ways.includes(ending.value)) choose(first);
          void showStep(common + at);
        }}
      >
        {op ? brief(`${op.name} ${op.text}`, 48) : '…'}
        {taken.partway && ' (continues)'}
      </Button>
      {last !== null && (
        <b class="quiet" title={`State ${letter(last)} (${id})`}>
          → {letter(last)}
        </b>
      )}
      {id && op && !taken.partway && (
        <Button
          class="small"
          title={`Assume the state after this step (${id}): hides orders that do not pass through it`}
          aria-label={`Assume the state after ${brief(op.name, 40)}`}
          onClick={() => void assume(`${op.name} = ${id}`)}
        >
          assume
        </Button>
      )}
    </td>
  );
}
