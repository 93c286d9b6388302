// The smallest failing part of the history, whole, or a test beside a serial run.

import type { ComponentChildren } from 'preact';
import { spelled } from '../data/spelling.ts';
import type { OpRef, Report, Window as SmallestPart, State } from '../data/types.ts';
import { failingOps, verdictView } from '../data/verdict.ts';
import { saveText } from '../export/image.ts';
import { jsonLines } from '../export/jsonl.ts';
import { history, placeOf, states, stepOf } from '../state.ts';
import { brief, count, many } from '../text.ts';
import { AnomalyPart } from './anomaly.tsx';
import { Bands, room } from './boxes.tsx';
import { Closest } from './closest.tsx';
import { liveHistory, notify, showOp } from './local.ts';
import { Button } from './parts.tsx';
import { Value } from './value.tsx';
import { nameOf } from './words.ts';

const MOST = 120;

/** What happened: the smallest part that fails, or the operations that the verdict is about; nothing without any. */
export function What({ report }: { report: Report }) {
  const verdict = verdictView(report);
  if (verdict.kind === 'anomaly') return <AnomalyPart report={report} />;
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
        <Button class="small" onClick={() => save(report, part)}>
          Save as JSON Lines
        </Button>
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

/** The step of an operation in the chosen order; null if it takes none, or if it is the only one. */
function stepOfRef(op: OpRef): number | null {
  liveHistory();
  const place = placeOf(op);
  return place === null ? null : stepOf(place);
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
