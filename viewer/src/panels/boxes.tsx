// Operations as boxes: one row per process, time from left to right.
//
// Operations that overlap share a column. If not all columns fit, the rest continues in a band below, so that nothing is
// cut off and nothing scrolls.

import { cutMiddle, shortName } from '../data/short.ts';
import { OUTCOMES } from '../data/status.ts';
import type { Operation, OpRef } from '../data/types.ts';
import { failureWord, history } from '../state.ts';
import { brief, visible } from '../text.ts';
import { laneNames } from '../timeline/lanes.ts';
import { bands, columns, type Placed } from './columns.ts';
import { menuOf, sideWidth, windowWidth } from './local.ts';
import { Button } from './parts.tsx';

const LONGEST = 60;
/** The width of a letter and of the rest of a box, in pixels. */
const [LETTER, FRAME] = [7.9, 24];

const GAP = 6;

export function room(): number {
  const window = windowWidth.value;
  return window - sideWidth() - 84;
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
  room: number;
  act: (op: OpRef) => void;
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
          <Button
            class={`box ${isBlocked ? 'blocked' : wanted.includes(op) ? 'wanted' : 'placed'} ${begins ? '' : 'begun'} ${ends ? '' : 'open'}`}
            style={{ gridRow: row(lane), gridColumn: `${first} / ${last + 1}` }}
            title={`${brief(`${operation.name} ${operation.text}`, 400)}${outcome ? `, ${OUTCOMES[outcome].word}` : ''}`}
            onClick={() => act(op)}
            onContextMenu={menuOf({ name: operation.name })}
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
          </Button>
        );
      })}
    </div>
  );
}
