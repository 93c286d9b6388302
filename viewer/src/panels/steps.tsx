// The steps, newest first: what happened, when, and what it changed. The first row is the operation that is stuck.
//
// The list is also what the canvas is for those who cannot see it: every operation that was placed has a row.

import { diff } from '../data/diff.ts';
import { fit } from '../data/fit.ts';
import type { Op } from '../data/history.ts';
import type { Report, Timeline } from '../data/types.ts';
import { found } from '../data/verdict.ts';
import {
  blocked,
  culprits,
  ending,
  isAtBlocked,
  matches,
  report,
  select,
  states,
  step,
  stepAt,
  stepCount,
} from '../state.ts';
import { brief, count, many, visible } from '../text.ts';
import { rankAmong } from './find.ts';
import { assume, pending } from './focus.ts';
import { arriving, openMenu, showOperation, showStep, windowWidth } from './local.ts';
import { failing, short } from './outcome.ts';
import { Op as OpButton } from './parts.tsx';
import { Rows } from './virtual.tsx';

const HEIGHT = 24;

/** When an operation ran, as it was recorded: times are too large for numbers, so they are added as whole ones. */
export function timebox(op: Op, origin: string): string {
  const zero = BigInt(origin);
  const end = op.end === null ? '…' : String(zero + BigInt(Math.round(op.end)));
  return `[${zero + BigInt(Math.round(op.start))}, ${end}]`;
}

/** Whether a place is among the matches. */
function isMatch(found: ArrayLike<number> | null, place: number): boolean {
  return found !== null && found[rankAmong(found, place)] === place;
}

/** The list. */
export function Steps() {
  const past = arriving();
  const about = report.value;
  if (!past || !about) return null;
  const stuck = blocked.value;
  const total = stepCount.value;
  const lead = stuck === null ? 0 : 1;
  if (total === 0 && (lead === 0 || states.value === null)) return <Recent report={about} />;
  const known = states.value;
  const common = past.timeline.steps;
  const single = known?.variables.length === 1 ? known.variables[0] : null;
  const stepOfRow = (row: number) => total - 1 - (row - lead);
  const active = isAtBlocked() ? 0 : step.value === null ? null : lead + total - 1 - step.value;
  return (
    <Rows
      label="Steps, newest first"
      count={total + lead}
      height={HEIGHT}
      columns={6}
      active={active}
      header={
        <>
          <span role="columnheader">step ↓ back</span>
          <span role="columnheader">process</span>
          <span role="columnheader">action</span>
          <span role="columnheader" class="time">
            timebox
          </span>
          <span role="columnheader">{single ? `${brief(single, 40)} ` : ''}(− removed, + added)</span>
          <span role="columnheader" class="do">
            <span class="offscreen">assume</span>
          </span>
        </>
      }
      rowClass={row => {
        if (row < lead) return 'blocked';
        const at = stepAt(stepOfRow(row));
        const parts = isApart(stepOfRow(row), common) && !isApart(stepOfRow(row) - 1, common) ? 'parting' : '';
        return `${at && isMatch(matches.value, at.op) ? 'match' : ''} ${parts}`;
      }}
      onActive={row => {
        if (row < lead) void showOperation(stuck!);
        else void showStep(stepOfRow(row));
      }}
      onMenu={(row, x, y) => {
        const place = row < lead ? stuck : stepAt(stepOfRow(row))?.op;
        const name = place == null ? null : past.name(place);
        if (name) openMenu({ x, y, name });
      }}
      onSight={(first, last) => {
        const from = Math.max(0, stepOfRow(last));
        const to = Math.min(common - 1, stepOfRow(Math.max(lead, first)));
        if (to >= from) void past.ensureSteps(from, to);
      }}
      draw={row =>
        row < lead ? <Blocked report={about} place={stuck!} /> : <Step at={stepOfRow(row)} common={common} />
      }
    />
  );
}

function Blocked({ report: about, place }: { report: Report; place: number }) {
  const past = arriving();
  const op = past?.op(place);
  if (!past || !op) return <span role="gridcell">loading…</span>;
  const verdict = found(about);
  let why = 'cannot be placed';
  if (verdict.kind === 'stuck') {
    const reason = verdict.reasons.find(each => each.op === verdict.blocked[0]);
    if (reason) why = reason.why.kind === 'guard' ? failing(reason.why) : short(about, reason.why);
  } else if (verdict.kind === 'invariant') why = `${verdict.invariant} is FALSE in every explanation`;
  return (
    <>
      <span role="gridcell">
        <span aria-hidden="true">✗</span> blocked
      </span>
      <Recorded op={op} of={past.timeline} />
      <span role="gridcell" class="change">
        {brief(why, 160)}
      </span>
      <span role="gridcell" class="do">
        <Pin name={op.name} />
      </span>
    </>
  );
}

/** Who called an operation, what, and when. */
function Recorded({ op, of }: { op: Op; of: Timeline }) {
  return (
    <>
      <span role="gridcell">{brief(of.processes[op.process] ?? '', 24)}</span>
      <span role="gridcell">{brief(op.text, 80)}</span>
      <span role="gridcell" class="time">
        {timebox(op, of.origin)}
      </span>
    </>
  );
}

function Step({ at, common }: { at: number; common: number }) {
  const past = arriving();
  const taken = stepAt(at);
  const op = taken && past?.op(taken.op);
  if (!past || !taken || !op) return <span role="gridcell">#{count(at + 1)} loading…</span>;
  const apart = isApart(at, common);
  return (
    <>
      <span role="gridcell">
        #{count(at + 1)}
        {taken.partway && (
          <span class="tag" title="the operation is not over with this step">
            ◐ partway
          </span>
        )}
        {apart && (
          <span class="tag" title={`only in interpretation ${ending.value + 1}`}>
            {isApart(at - 1, common) ? '≠' : '≠ from here'}
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

/** True if another interpretation is in another state after the step. */
function isApart(at: number, common: number): boolean {
  const endings = states.value?.part.endings ?? [];
  const id = endings[ending.value]?.ids[at - common];
  return id !== undefined && endings.some(other => other.ids[at - common] !== id);
}

/** How many characters the last column has room for: what the other columns and the right side leave. */
function room(): number {
  const side = windowWidth.value > 1000 ? 412 : windowWidth.value > 820 ? 320 : 0;
  const list = windowWidth.value - side;
  const others = list > 860 ? 745 : list > 520 ? 470 : 280;
  return Math.max(20, Math.floor((list - others) / 7.6));
}

/** What a step changed: the variables that are different, with what was removed and added. */
function Change({ at }: { at: number }) {
  const width = room();
  const known = states.value;
  const before = known?.state(at, ending.value);
  const after = known?.state(at + 1, ending.value);
  if (!known || !before || !after) return <span class="quiet">–</span>;
  const changed = known.variables
    .map((_, variable) => variable)
    .filter(variable => before[variable] !== after[variable]);
  if (changed.length === 0) {
    const only = known.variables.length === 1 ? after[0]! : null;
    return <span class="quiet">{only === null ? 'nothing changed' : brief(only, width)}</span>;
  }
  const names = changed.map(variable => (known.variables.length > 1 ? brief(known.variables[variable]!, 30) : ''));
  // As many variables as there is room for, and at least the first: half of a change says nothing.
  const lengths = changed.map((_, place) => (names[place] ? names[place].length + 3 : 2));
  let shown = 1;
  let taken = lengths[0]!;
  while (shown < changed.length && taken + lengths[shown]! + (shown + 1) * LEGIBLE <= width) {
    taken += lengths[shown]!;
    shown += 1;
  }
  const rest = changed.length > shown ? `; ${changed.length - shown} more` : '';
  const each = Math.max(LEGIBLE, Math.floor((width - taken - rest.length) / shown));
  return (
    <>
      {changed.slice(0, shown).map((variable, place) => (
        <>
          {place > 0 && '; '}
          {names[place] && <b>{names[place]} </b>}
          <Pieces before={before[variable]!} after={after[variable]!} width={each} />
        </>
      ))}
      {rest}
    </>
  );
}

/** A change in fewer characters says nothing. */
const LEGIBLE = 14;

/** A value with what was removed struck out and what was added marked. If it is long, what stays is cut around it: what
 * changed must be in sight. */
export function Pieces({ before, after, width }: { before: string; after: string; width: number }) {
  // Characters that are written out take more room; a megabyte is cut before they are looked for.
  const seen = fit(diff(before, after), width).map(({ text, kind }) => ({ text: visible(text), kind }));
  return (
    <>
      {fit(seen, width).map(({ text, kind }) => {
        if (kind === 'same') return text;
        const inner = (
          <>
            <span class="offscreen">{kind} </span>
            {text}
          </>
        );
        return kind === 'removed' ? <del>{inner}</del> : <ins>{inner}</ins>;
      })}
    </>
  );
}

/** What can be assumed about an operation; also about the state after a step, if the operation is over with it. */
function Pin({ name, at }: { name: string; at?: number }) {
  const id = at === undefined ? null : (states.value?.id(at + 1, ending.value) ?? null);
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        title="Assume that this operation takes effect before another one"
        aria-label={`Assume ${brief(name, 40)} before another`}
        onClick={event => {
          event.stopPropagation();
          pending.value = { name, before: true };
        }}
      >
        &lt;
      </button>
      {id && (
        <button
          type="button"
          tabIndex={-1}
          title={`Assume the state after this step (${id})`}
          aria-label={`Assume the state after ${brief(name, 40)}`}
          onClick={event => {
            event.stopPropagation();
            void assume(`${name} = ${id}`);
          }}
        >
          =
        </button>
      )}
    </>
  );
}

/** What there is if only the report is at hand: the last steps of the chosen interpretation. */
function Recent({ report: about }: { report: Report }) {
  const verdict = found(about);
  if (about.history.operations === 0) return <p class="empty">There are no operations, so there are no steps.</p>;
  if (verdict.kind !== 'stuck' || verdict.interpretations.length === 0) {
    return (
      <p class="empty">
        {verdict.kind === 'inconclusive'
          ? 'No order was found before the check stopped.'
          : culprits.value.length > 0
            ? 'There is no order to show: it is clear without one that the marked operations contradict each other.'
            : 'The order of the operations is not in this file.'}
      </p>
    );
  }
  const way = verdict.interpretations[ending.value] ?? verdict.interpretations[0]!;
  return (
    <div class="padded">
      <p class="quiet">
        Only the report is at hand: these are the last {many(way.recent.length, 'step')}, newest first.
      </p>
      <ol reversed class="ops">
        {[...way.recent]
          .reverse()
          .slice(0, 200)
          .map(({ op, partway }) => (
            <li>
              <OpButton report={about} op={op} /> {partway && '◐ partway'}
            </li>
          ))}
      </ol>
      <button type="button" class="more" onClick={() => select(blocked.value)}>
        back to the blocked operation
      </button>
    </div>
  );
}
