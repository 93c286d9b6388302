// The smallest failing part of the history, whole: one row per process, time from left to right.
//
// Operations that overlap share a column. If not all columns fit, the rest continues in a band below, so that nothing is
// cut off and nothing scrolls.

import { cutMiddle, shortName } from '../data/short.ts';
import { OUTCOMES } from '../data/status.ts';
import type { Operation, OpRef, Window as Part, Report } from '../data/types.ts';
import { saveText } from '../export/image.ts';
import { jsonLines } from '../export/jsonl.ts';
import { history, onlyPart, placeOf, smallestPart, toggleOnlyPart } from '../state.ts';
import { brief, many, visible } from '../text.ts';
import { laneNames } from '../timeline/lanes.ts';
import { bands, columns, type Placed } from './columns.ts';
import { notify, openMenu, showOp, windowWidth } from './local.ts';
import { Section } from './parts.tsx';
import { Value } from './value.tsx';

/** Longest value in a label. */
const LONGEST = 60;
/** Most operations that are drawn. */
const MOST = 120;
/** The width of a letter and of the rest of a box, in pixels. */
const [LETTER, FRAME] = [7.3, 17];

/** The distance of boxes, in pixels. */
const GAP = 4;

/** The width of a line in the side panel, in pixels. */
function room(): number {
  const window = windowWidth.value;
  const side = window > 1000 ? 412 : window > 820 ? 320 : window;
  return side - 62;
}

/** The part as a picture, with what can be done with it. */
export function Window({
  report,
  window,
  blocked,
  title = 'Smallest failing part',
}: {
  report: Report;
  window: Part;
  blocked: OpRef[];
  title?: string;
}) {
  const shown = columns(report.operations, window.operations.slice(0, MOST));
  const left = window.operations.length - shown.placed.length;
  // A label wraps at blanks, so it is at least as wide as its longest word.
  const widthOf = (op: OpRef) => {
    const words = labelOf(report.operations[op]!).split(' ');
    return Math.max(...words.map(word => word.length)) * LETTER + FRAME;
  };
  const lane = Math.max(...shown.processes.map(name => laneName(name).length)) * LETTER + 10;
  const lines = bands(shown, widthOf, room() - lane, GAP);
  return (
    <Section id="h-window" title={title}>
      <div class="card">
        <p class="quiet lead">
          {many(window.operations.length, 'operation')}
          {window.before > 0 &&
            window.start.length > 0 &&
            `, after ${many(window.before, 'other')} and from ${many(window.start.length, 'possible state')}`}
          . Boxes that share a column overlap; a box to the left returned before one to the right began.
        </p>
        {lines.map((line, at) => (
          <Band
            report={report}
            blocked={blocked}
            processes={shown.processes}
            placed={shown.placed.filter(({ from, to }) => from <= line.last && to >= line.first)}
            line={line}
            isFirst={at === 0}
            isOnly={lines.length === 1}
          />
        ))}
        {left > 0 && <p class="quiet">{many(left, 'more operation')}</p>}
        <p class="doing">
          {smallestPart.value.length > 0 && (
            <button type="button" class="small" aria-pressed={onlyPart.value} onClick={toggleOnlyPart}>
              Show in the timeline
            </button>
          )}
          <button type="button" class="small" onClick={() => save(report, window)}>
            Save as JSON Lines
          </button>
        </p>
        {window.start.length > 0 && (
          <details>
            <summary>Initial states</summary>
            <ul class="starts">
              {window.start.slice(0, 8).map(state => (
                <li>
                  {state.variables.map((field, at) => (
                    <>
                      {at > 0 && ', '}
                      {field.name && <code>{brief(field.name, 40)} = </code>}
                      <Value text={field.value} />
                    </>
                  ))}
                </li>
              ))}
              {window.start.length > 8 && <li>{window.start.length - 8} more</li>}
            </ul>
          </details>
        )}
      </div>
    </Section>
  );
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

/** Columns `line.first ..= line.last` of all processes. */
function Band({
  report,
  blocked,
  processes,
  placed,
  line,
  isFirst,
  isOnly,
}: {
  report: Report;
  blocked: OpRef[];
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
      aria-label={isFirst ? 'Operations by process' : 'Operations by process, continued'}
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
        const operation = report.operations[op]!;
        const isBlocked = blocked.includes(op);
        const outcome = operation.outcome ?? (operation.end === null ? 'unfinished' : null);
        const [begins, ends] = [from >= line.first, to <= line.last && operation.end !== null];
        const first = Math.max(from, line.first) - line.first + 2;
        const last = Math.min(to, line.last) - line.first + 2;
        return (
          <button
            type="button"
            class={`box ${isBlocked ? 'blocked' : 'placed'} ${begins ? '' : 'begun'} ${ends ? '' : 'open'}`}
            style={{ gridRow: row(lane), gridColumn: `${first} / ${last + 1}` }}
            title={`${brief(`${operation.name} ${operation.text}`, 400)}${outcome ? `, ${OUTCOMES[outcome].word}` : ''}`}
            onClick={() => showOp(op)}
            onContextMenu={event => {
              event.preventDefault();
              openMenu({ x: event.clientX, y: event.clientY, name: operation.name });
            }}
          >
            <span class="offscreen">{brief(operation.process, 40)}: </span>
            {isBlocked && (
              <>
                <span aria-hidden="true">✗ </span>
                <span class="offscreen">blocked </span>
              </>
            )}
            {!begins && '… '}
            {labelOf(operation)}
            {outcome && (ends || to <= line.last) && <span class="aside"> {OUTCOMES[outcome].word}</span>}
          </button>
        );
      })}
    </div>
  );
}

/** Downloads the operations of the part. Times are ranks, because those of a report may be rounded. */
function save(report: Report, window: Part): void {
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
