// What happened: the smallest failing part of the history, whole: one row per process, time from left to right.
//
// Operations that overlap share a column. If not all columns fit, the rest continues in a band below, so that nothing is
// cut off and nothing scrolls.

import type { ComponentChildren } from 'preact';
import { cutMiddle, shortName } from '../data/short.ts';
import { spelled } from '../data/spelling.ts';
import { OUTCOMES } from '../data/status.ts';
import type { Operation, OpRef, Report, Window as SmallestPart, State } from '../data/types.ts';
import { failingOps, verdictView } from '../data/verdict.ts';
import { saveText } from '../export/image.ts';
import { jsonLines } from '../export/jsonl.ts';
import { failureWord, history, placeOf, states, stepOf } from '../state.ts';
import { brief, count, many, visible } from '../text.ts';
import { laneNames } from '../timeline/lanes.ts';
import { Closest } from './closest.tsx';
import { bands, columns, type Placed } from './columns.ts';
import { liveHistory, notify, openMenu, showOp, sideWidth, windowWidth } from './local.ts';
import { Value } from './value.tsx';
import { nameOf } from './words.ts';

/** Longest value in a label. */
const LONGEST = 60;
/** Most operations that are drawn. */
const MOST = 120;
/** The width of a letter and of the rest of a box, in pixels. */
const [LETTER, FRAME] = [7.9, 24];

/** The distance of boxes, in pixels. */
const GAP = 6;

/** The width of a line of boxes, in pixels. */
export function room(): number {
  const window = windowWidth.value;
  return window - sideWidth() - 84;
}

/** What happened: the smallest part that fails, or the operations that the verdict is about; nothing without any. */
export function What({ report }: { report: Report }) {
  const verdict = verdictView(report);
  if (report.closest_run) return <Closest run={report.closest_run} />;
  if (verdict.kind === 'stuck' && verdict.window) {
    const { start, operations } = verdict.window;
    const total = report.history.operations;
    return (
      <Part report={report} part={verdict.window}>
        the smallest part that fails{verdict.window.before === 0 || start.length > 0 ? ' by itself' : ''}:{' '}
        {count(operations.length)} of {many(total ?? operations.length, 'operation')}
        {start.length === 1 && lengthOf(start[0]!) <= MOST_START && (
          <>
            , starting with <States states={start} />
          </>
        )}
        {start.length > 1 && `, starting in ${many(start.length, 'possible state')}`}
      </Part>
    );
  }
  if (verdict.kind === 'contradiction') {
    const { operations } = verdict;
    return (
      <Part report={report} part={{ start: [], operations, before: 0 }}>
        {many(operations.length, 'operation')} that contradict each other
      </Part>
    );
  }
  const [view] = verdict.kind === 'views' ? verdict.views : [];
  if (!view) return null;
  const operations = [...new Set([...view.must_see, ...view.may_miss, view.op])];
  return (
    <Part report={report} part={{ start: [], operations, before: 0 }}>
      the last operations that {nameOf(report, view.op)} may see
    </Part>
  );
}

/** The part as a picture, with what can be done with it. */
function Part({ report, part, children }: { report: Report; part: SmallestPart; children: ComponentChildren }) {
  const left = part.operations.length - MOST;
  const steps = part.operations.map(op => ({ op, step: stepOfRef(op) })).filter(({ step }) => step !== null);
  return (
    <section class="happened" aria-labelledby="h-window">
      <h2>
        <button type="button" class="small" onClick={() => save(report, part)}>
          Save as JSON Lines
        </button>
        <span id="h-window">What happened</span>
        <span class="note"> · {children}</span>
      </h2>
      <div class="card" tabIndex={0} role="group" aria-label="Operations that matter, by process">
        <Bands
          operations={report.operations}
          refs={part.operations.slice(0, MOST)}
          failing={failingOps(verdictView(report), report.operations)}
          order={steps.sort((a, b) => a.step! - b.step!).map(({ op }) => op)}
          room={room()}
          act={showOp}
        />
        {left > 0 && <p class="quiet">{many(left, 'more operation')}</p>}
        {part.start.some((state, _, all) => all.length > 1 || lengthOf(state) > MOST_START) && (
          <details>
            <summary>{many(part.start.length, 'state')} before it</summary>
            <States states={part.start.slice(0, 8)} />
            {part.start.length > 8 && ` and ${part.start.length - 8} more`}
          </details>
        )}
      </div>
    </section>
  );
}

/** Operations in columns of time, in as many bands as they need. */
export function Bands({ room, refs, ...rest }: BandsProps) {
  const { operations } = rest;
  const shown = columns(operations, refs);
  // A label wraps at blanks, so it is at least as wide as its longest word.
  const widthOf = (op: OpRef) => {
    const words = labelOf(operations[op]!).split(' ');
    return Math.max(...words.map(word => word.length)) * LETTER + FRAME;
  };
  const lane = Math.max(...shown.processes.map(name => laneName(name).length)) * LETTER + 10;
  const lines = bands(shown, widthOf, room - lane, GAP);
  return lines.map((line, at) => (
    <Band
      {...rest}
      processes={shown.processes}
      placed={shown.placed.filter(({ from, to }) => from <= line.last && to >= line.first)}
      line={line}
      isFirst={at === 0}
      isOnly={lines.length === 1}
    />
  ));
}

interface BandsProps {
  operations: Operation[];
  refs: OpRef[];
  failing: OpRef[];
  /** Those that are what the failing ones should be. */
  wanted?: OpRef[];
  /** As they take effect. */
  order: OpRef[];
  /** The width of a line of boxes, in pixels. */
  room: number;
  /** Selects an operation. */
  act: (op: OpRef) => void;
}

/** The longest state that is shown in the title. */
const MOST_START = 60;

function lengthOf({ variables }: State): number {
  return variables.reduce((sum, field) => sum + field.name.length + field.value.length, 0);
}

/** States in a line each. */
function States({ states: shown }: { states: State[] }) {
  return shown.map(({ variables }, at) => (
    <span class="start">
      {at > 0 && ' or '}
      {variables.map((field, at) => (
        <>
          {at > 0 && ', '}
          <code>
            {field.name && `${brief(field.name, 40)} = `}
            <Value text={spelled(field.value, states.value?.isFunction(at))} width={60} />
          </code>
        </>
      ))}
    </span>
  ));
}

/** The label of a box; an arrow stays with the result behind it. */
function labelOf(operation: Operation): string {
  return shortName(operation, LONGEST).replace(' → ', ' →\u00a0');
}

/** The name of a process as in the timeline. */
function laneName(process: string): string {
  const past = history.value;
  const at = past ? past.timeline.processes.indexOf(process) : -1;
  return cutMiddle(visible(past && at >= 0 ? laneNames(past)[at]! : process), 12);
}

/** The step of an operation in the chosen order; null if it takes none, or if it is the only one. */
function stepOfRef(op: OpRef): number | null {
  liveHistory();
  const place = placeOf(op);
  return place === null ? null : stepOf(place);
}

/** Columns `line.first ..= line.last` of all processes. */
function Band({
  operations,
  failing,
  wanted = [],
  order,
  processes,
  placed,
  line,
  isFirst,
  isOnly,
  act,
}: Omit<BandsProps, 'refs' | 'room'> & {
  processes: string[];
  placed: Placed[];
  line: { first: number; last: number };
  isFirst: boolean;
  isOnly: boolean;
}) {
  // If there are several bands, each has only the processes that do something.
  const lanes = processes.map((_, lane) => lane).filter(lane => isOnly || placed.some(each => each.lane === lane));
  const row = (lane: number) => `${lanes.indexOf(lane) + 1}`;
  // A column that does not fit even alone has words that have to be broken.
  const isSingle = line.first === line.last;
  return (
    <div
      class={`part ${isSingle ? 'single' : ''}`}
      role="group"
      aria-label={isFirst ? 'In order of time' : 'In order of time, continued'}
      style={{
        gridTemplateColumns: isSingle
          ? 'auto minmax(0, 1fr)'
          : `auto repeat(${line.last - line.first + 1}, minmax(min-content, 1fr))`,
      }}
    >
      {lanes.map(lane => (
        <span class="lane" aria-hidden="true" style={{ gridRow: row(lane) }} title={brief(processes[lane]!, 200)}>
          {laneName(processes[lane]!)}
        </span>
      ))}
      {placed.map(({ op, lane, from, to }) => {
        const operation = operations[op]!;
        const isBlocked = failing.includes(op);
        const outcome = operation.outcome ?? (operation.end === null ? 'unfinished' : null);
        const [begins, ends] = [from >= line.first, to <= line.last && operation.end !== null];
        const first = Math.max(from, line.first) - line.first + 2;
        const last = Math.min(to, line.last) - line.first + 2;
        return (
          <button
            type="button"
            class={`box ${isBlocked ? 'blocked' : wanted.includes(op) ? 'wanted' : 'placed'} ${begins ? '' : 'begun'} ${ends ? '' : 'open'}`}
            style={{ gridRow: row(lane), gridColumn: `${first} / ${last + 1}` }}
            title={`${brief(`${operation.name} ${operation.text}`, 400)}${outcome ? `, ${OUTCOMES[outcome].word}` : ''}`}
            onClick={() => act(op)}
            onContextMenu={event => {
              event.preventDefault();
              openMenu({ x: event.clientX, y: event.clientY, name: operation.name });
            }}
          >
            <span class="offscreen">{brief(operation.process, 40)}: </span>
            {isBlocked && (
              <>
                <span aria-hidden="true">✗ </span>
                <span class="offscreen">{failureWord.value} </span>
              </>
            )}
            {!begins && '… '}
            {labelOf(operation)}
            {order.includes(op) && begins && !isBlocked && (
              <sup title="its place in the order">{order.indexOf(op) + 1}</sup>
            )}
            {outcome && (ends || to <= line.last) && <span class="aside"> {OUTCOMES[outcome].word}</span>}
          </button>
        );
      })}
    </div>
  );
}

/** Downloads the operations of the part. Times are ranks, because those of a report may be rounded. */
function save(report: Report, window: SmallestPart): void {
  const exact = (op: OpRef) => {
    const place = placeOf(op);
    const found = place === null ? null : (history.value?.op(place) ?? null);
    return found && { start: found.from, end: found.end === null ? null : found.to };
  };
  const text = jsonLines(report, window.operations, exact);
  if (text === null) {
    notify('Not saved: the page has only the beginning of a value');
    return;
  }
  saveText(text, 'smallest', 'jsonl');
  if (window.before > 0) notify(`Saved. It fails after the ${many(window.before, 'operation')} before it`);
}
