// The list of steps, newest first: operation, timebox and state change. The first row is the blocked operation. Steps
// that no operation shows have rows of their own, with a dashed border.
//
// The list is the accessible equivalent of the canvas: every placed operation has a row.

import { changes } from '../data/change.ts';
import { offset } from '../data/clock.ts';
import { diff } from '../data/diff.ts';
import { ARROW, fit, isReplacement } from '../data/fit.ts';
import type { History, Op } from '../data/history.ts';
import { cutMiddle, nameWithin } from '../data/short.ts';
import { messageChanges, spelled } from '../data/spelling.ts';
import type { Report, Timeline } from '../data/types.ts';
import { entryAt, placeOfStep } from '../data/unlogged.ts';
import { verdictView } from '../data/verdict.ts';
import {
  allBlocked,
  blocked,
  brokenBy,
  contradicting,
  ending,
  failureWord,
  history,
  isAnomaly,
  isAtBlocked,
  matches,
  reference,
  report,
  select,
  selection,
  showOperation,
  states,
  statusOf,
  statusWords,
  step,
  stepAt,
  stepCount,
} from '../state.ts';
import { brief, count, many, visible } from '../text.ts';
import { laneNames } from '../timeline/lanes.ts';
import { rankAmong } from './find.ts';
import { assume, pending } from './focus.ts';
import { liveHistory, openMenu, showStep, sideWidth, windowWidth } from './local.ts';
import { failing, reasonText } from './outcome.ts';
import { Button, Op as OpButton, Sentence } from './parts.tsx';
import { Rows } from './virtual.tsx';

const HEIGHT = 24;

/** The interval of an operation relative to the failure: `−1.67 ms … 0`. */
export function timebox(op: Op): string {
  const clock = history.value?.clock ?? null;
  const show = (time: number) => offset(time - reference.value, clock);
  // Without a failure, times count from the first event.
  const plain = (text: string) => (blocked.value === null ? text.replace('+', '') : text);
  const [start, end] = [op.start, op.end].map(time => time !== null && plain(show(time)));
  return `${start} … ${end === false ? '' : end}`.trim();
}

/** What the times of `timebox` are: `time (ticks)`. */
function timeTitle(past: History): string {
  return past.clock === 'ns' ? 'time' : `time (${past.clock ?? 'ticks'})`;
}

function isMatch(found: ArrayLike<number> | null, place: number): boolean {
  return found !== null && found[rankAmong(found, place)] === place;
}

export function Steps() {
  const past = liveHistory();
  const about = report.value;
  if (!past || !about) return null;
  const stuck = blocked.value;
  const total = stepCount.value;
  const lead = stuck === null ? 0 : 1;
  if (contradicting.value.length > 0 || isAnomaly.value || (total === 0 && about.verdict.kind === 'inconclusive'))
    return <All />;
  if (total === 0 && (lead === 0 || states.value === null)) return <Recent report={about} />;
  const known = states.value;
  const common = past.timeline.steps;
  const single = known?.variables.length === 1 ? known.variables[0] : null;
  const unlogged = past.unlogged();
  const all = total + unlogged.length;
  // The number of the row from the oldest, and what is there.
  const rowAt = (row: number) => entryAt(unlogged, all - 1 - (row - lead));
  const stepOfRow = (row: number) => rowAt(row).step;
  const active = isAtBlocked() ? 0 : step.value === null ? null : lead + all - 1 - placeOfStep(unlogged, step.value);
  return (
    <Rows
      label="Steps, newest first"
      kind={past.hasPoints ? 'points' : ''}
      count={all + lead}
      height={HEIGHT}
      columns={6}
      active={active}
      header={
        <>
          <span role="columnheader">step ↓ older</span>
          <span role="columnheader">process</span>
          <span role="columnheader">action</span>
          <span role="columnheader" class="time">
            {past.hasPoints ? 'event' : timeTitle(past)}
          </span>
          <span role="columnheader">{single ? brief(single, 40) : 'change'}</span>
          <span role="columnheader" class="do">
            <span class="offscreen">assume</span>
          </span>
        </>
      }
      rowClass={row => {
        if (row < lead) return 'blocked';
        if (rowAt(row).unlogged) return 'unlogged';
        const at = stepAt(stepOfRow(row));
        const parts = isDivergent(stepOfRow(row), common) && !isDivergent(stepOfRow(row) - 1, common) ? 'parting' : '';
        return `${at && isMatch(matches.value, at.op) ? 'match' : ''} ${parts}`;
      }}
      isPassed={row => row >= lead && rowAt(row).unlogged !== null}
      onActive={row => {
        if (row < lead) void showOperation(stuck!);
        else if (stepOfRow(row) < total) void showStep(stepOfRow(row));
        else if (stuck !== null) void showOperation(stuck);
      }}
      onMenu={(row, x, y) => {
        const place = row < lead ? stuck : stepAt(stepOfRow(row))?.op;
        const name = place == null ? null : past.name(place);
        if (name) openMenu({ x, y, name });
      }}
      onVisible={(first, last) => {
        const from = Math.max(0, stepOfRow(last));
        const to = Math.min(common - 1, stepOfRow(Math.max(lead, first)));
        if (to >= from) void past.ensureSteps(from, to);
      }}
      draw={row =>
        row < lead ? (
          <Blocked report={about} place={stuck!} />
        ) : rowAt(row).unlogged ? (
          <Hidden action={rowAt(row).unlogged!.action} />
        ) : (
          <Step at={stepOfRow(row)} common={common} />
        )
      }
    />
  );
}

function Hidden({ action }: { action: string }) {
  return (
    <>
      <span role="gridcell">unlogged</span>
      <span role="gridcell" />
      <span role="gridcell">{brief(action, 80)}</span>
      <span role="gridcell" class="time" />
      <span role="gridcell" class="change">
        <span class="quiet">shown with the next event</span>
      </span>
      <span role="gridcell" class="do" />
    </>
  );
}

function Blocked({ report: about, place }: { report: Report; place: number }) {
  const past = liveHistory();
  const op = past?.op(place);
  if (!past || !op) return <span role="gridcell">loading…</span>;
  const verdict = verdictView(about);
  let why = 'no order allows it';
  if (verdict.kind === 'stuck') {
    const reason = verdict.reasons.find(each => each.op === verdict.blocked[0]);
    if (reason) why = reason.why.kind === 'guard' ? failing(reason.why) : reasonText(about, reason.why);
  } else if (verdict.kind === 'views') {
    why = verdict.views.find(view => view.op === verdict.blocked[0])?.why ?? 'nothing that it may see explains it';
  } else if (verdict.kind === 'invariant') {
    why = !verdict.broke?.length ? `${verdict.invariant} is FALSE in every order` : `breaks ${verdict.invariant}`;
  }
  return (
    <>
      <span role="gridcell">
        <span aria-hidden="true">✗</span> {brokenBy.value === null ? failureWord.value : 'breaks it'}
      </span>
      <Recorded op={op} of={past.timeline} />
      <span role="gridcell" class="change">
        <Sentence text={why} width={160} />
      </span>
      <span role="gridcell" class="do">
        <Pin name={op.name} />
      </span>
    </>
  );
}

/** Process, text and timebox of an operation. */
function Recorded({ op, of }: { op: Op; of: Timeline }) {
  const wide = columns().action;
  return (
    <>
      <Process op={op} of={of} />
      <span role="gridcell" title={op.text.length > wide ? brief(op.text, 400) : undefined}>
        {op.text.length > wide ? nameWithin(op, wide) || brief(op.text, wide) : visible(op.text)}
      </span>
      <span role="gridcell" class="time">
        {op.start === op.end ? eventOf(op, of.origin) : timebox(op)}
      </span>
    </>
  );
}

/** The name of a process, cut in the middle if it is long. */
function Process({ op, of }: { op: Op; of: Timeline }) {
  const full = of.processes[op.process] ?? '';
  const past = liveHistory();
  const name = cutMiddle(visible((past && laneNames(past)[op.process]) ?? full), 8);
  return (
    <span role="gridcell" title={name === full ? undefined : brief(full, 200)}>
      {name}
    </span>
  );
}

/** The number of an event, and its line in the log. */
function eventOf(op: Op, origin: string): string {
  const line = op.meta.find(field => field.name === 'line');
  return `${count(Number(origin) + op.start)}${line ? `, line ${brief(line.value, 12)}` : ''}`;
}

function Step({ at, common }: { at: number; common: number }) {
  const past = liveHistory();
  const taken = stepAt(at);
  const op = taken && past?.op(taken.op);
  if (!past || !taken || !op) return <span role="gridcell">#{count(at + 1)} loading…</span>;
  return (
    <>
      <span role="gridcell">
        #{count(at + 1)}
        {taken.partway && (
          <span class="tag" title="the operation takes effect in several steps, and continues after this one">
            continues
          </span>
        )}
        {isDivergent(at, common) && !isDivergent(at - 1, common) && (
          <span class="tag" title={`from here on, only in order ${ending.value + 1}`}>
            orders part
          </span>
        )}
      </span>
      <Recorded op={op} of={past.timeline} />
      <span role="gridcell" class="change">
        <Change at={at} />
      </span>
      <span role="gridcell" class="do">
        <Pin name={op.name} {...(taken.partway ? {} : { at })} />
      </span>
    </>
  );
}

/** True if some other interpretation is in a different state after the step. */
function isDivergent(at: number, common: number): boolean {
  const endings = states.value?.part.endings ?? [];
  const id = endings[ending.value]?.ids[at - common];
  return id !== undefined && endings.some(other => other.ids[at - common] !== id);
}

/** Widths of the columns for actions and changes, in characters: of the window without the side panel and the other
 * columns. */
function columns(): { action: number; change: number } {
  const list = windowWidth.value - sideWidth();
  // Numbers of events are short.
  const spare = history.value?.hasPoints ? 113 : 0;
  const [others, action] = list > 960 ? [778 - spare, 29] : list > 660 ? [485, 20] : list > 520 ? [375, 18] : [275, 14];
  return { action, change: Math.max(16, Math.floor((list - others) / 7.6)) };
}

/** The variables that a step changed, with old and new values. */
function Change({ at }: { at: number }) {
  const width = columns().change;
  const known = states.value;
  const before = known?.state(at, ending.value);
  const after = known?.state(at + 1, ending.value);
  if (!known || !before || !after) return <span class="quiet">–</span>;
  const found = known.variables.flatMap((name, variable): Shown[] => {
    const [old, next] = [before[variable]!, after[variable]!];
    if (old === next) return [];
    const own = known.variables.length > 1 ? brief(name, 30) : '';
    const messages = messageChanges(old, next);
    if (messages) {
      return messages.map(({ sign, text }) => {
        const isNew = sign === '+';
        const label = `${own} ${sign}`;
        const short = brief(text, Math.max(LEGIBLE, width - label.length - 4));
        return { label, before: isNew ? null : short, after: isNew ? short : null };
      });
    }
    const parts = changes(old, next);
    const isFunction = known.isFunction(variable);
    const whole = [{ label: own, before: spelled(old, isFunction), after: spelled(next, isFunction) }];
    if (!parts) return whole;
    const labels = parts.map(({ path }) => brief(name, 30) + visible(path));
    // A path that leaves no room for the change, such as one with a record as a key, is no help.
    if (labels.some(label => label.length > width / 2)) return whole;
    const short = (text: string | null) => (text === null ? null : spelled(text));
    return parts.map(({ before, after }, at) => ({ label: labels[at]!, before: short(before), after: short(after) }));
  });
  if (found.length === 0) return <span class="quiet">–</span>;
  // As many changes as fit, and at least one: half a change is useless.
  const lengths = found.map(({ label }) => (label ? label.length + 3 : 2));
  let shown = 1;
  let taken = lengths[0]!;
  while (shown < found.length && taken + lengths[shown]! + (shown + 1) * LEGIBLE <= width) {
    taken += lengths[shown]!;
    shown += 1;
  }
  const rest = found.length > shown ? `; ${found.length - shown} more` : '';
  const each = Math.max(LEGIBLE, Math.floor((width - taken - rest.length) / shown));
  return (
    <>
      {found.slice(0, shown).map(({ label, before, after }, place) => (
        <>
          {place > 0 && '; '}
          {label && <b>{label} </b>}
          <Pieces before={before ?? ''} after={after ?? ''} width={each} />
        </>
      ))}
      {rest}
    </>
  );
}

/** A change in the list: of a variable, or of a part of it. */
interface Shown {
  label: string;
  /** Null if it was added. */
  before: string | null;
  /** Null if it was removed. */
  after: string | null;
}

/** Minimum width of a legible change, in characters. */
const LEGIBLE = 14;

/** A changed value: removed text struck out, added text underlined, `→` where one replaces the other. Unchanged text is
 * cut first, so that the change stays visible. */
export function Pieces({ before, after, width }: { before: string; after: string; width: number }) {
  // Fits twice: first because values may be huge, then because written-out characters take more room.
  const shown = fit(diff(before, after), width).map(({ text, kind }) => ({ text: visible(text), kind }));
  return (
    <>
      {fit(shown, width).map(({ text, kind }, at, pieces) => {
        if (kind === 'same') return text;
        const inner = (
          <>
            <span class="offscreen">{kind} </span>
            {text}
          </>
        );
        if (kind === 'removed') return <del>{inner}</del>;
        return (
          <>
            {isReplacement(pieces, at) && <span aria-hidden="true">{ARROW}</span>}
            <ins>{inner}</ins>
          </>
        );
      })}
    </>
  );
}

/** Buttons for assumptions about an operation, and about the state after a step that completes it. */
function Pin({ name, at }: { name: string; at?: number }) {
  const id = at === undefined ? null : (states.value?.id(at + 1, ending.value) ?? null);
  return (
    <>
      <Button
        tabIndex={-1}
        title="Assume that this operation takes effect before another; choose the other one next"
        aria-label={`Assume ${brief(name, 40)} before another`}
        onClick={event => {
          event.stopPropagation();
          pending.value = { name, before: true };
        }}
      >
        before…
      </Button>
      {id && (
        <Button
          tabIndex={-1}
          title={`Assume the state after this step (${id})`}
          aria-label={`Assume the state after ${brief(name, 40)}`}
          onClick={event => {
            event.stopPropagation();
            void assume(`${name} = ${id}`);
          }}
        >
          assume
        </Button>
      )}
    </>
  );
}

/** All operations by start, if there is no order of them. */
function All() {
  const past = liveHistory()!;
  const part = new Set(isAnomaly.value ? allBlocked.value : contradicting.value);
  const isPart = (row: number) => part.has(row);
  return (
    <Rows
      label="Operations, by start"
      count={past.size}
      height={HEIGHT}
      columns={5}
      active={selection.value}
      header={['', 'process', 'action', timeTitle(past)].map((title, at) => (
        <span role="columnheader" class={at === 3 ? 'time' : ''}>
          {title || <span class="offscreen">status</span>}
        </span>
      ))}
      rowClass={row => (row === blocked.value ? 'blocked' : isPart(row) ? 'match' : '')}
      onActive={row => void showOperation(row)}
      onVisible={(first, last) => void past.ensure(first, last)}
      draw={row => {
        const op = past.op(row);
        return (
          <>
            <span role="gridcell">{isPart(row) && statusWords(statusOf(row)).join(' ')}</span>
            {op ? <Recorded op={op} of={past.timeline} /> : <span role="gridcell">loading…</span>}
          </>
        );
      }}
    />
  );
}

/** The last steps of the chosen interpretation, if the page has only the report. */
function Recent({ report: about }: { report: Report }) {
  const verdict = verdictView(about);
  if (about.history.operations === 0) return <p class="empty">No operations, so no steps.</p>;
  if (verdict.kind !== 'stuck' || verdict.interpretations.length === 0) {
    return <p class="empty">The order of the operations is not in this page.</p>;
  }
  const way = verdict.interpretations[ending.value] ?? verdict.interpretations[0]!;
  return (
    <div class="padded">
      <p class="quiet">This page has only the report: the last {many(way.recent.length, 'step')}, newest first.</p>
      <ol reversed class="ops">
        {[...way.recent]
          .reverse()
          .slice(0, 200)
          .map(({ op, partway }) => (
            <li>
              <OpButton report={about} op={op} /> {partway && '(continues)'}
            </li>
          ))}
      </ol>
      <Button class="more" onClick={() => select(blocked.value)}>
        back to the failing operation
      </Button>
    </div>
  );
}
