// The record of the selected operation, and the operations that are not placed.

import { useEffect, useState } from 'preact/hooks';
import { duration } from '../data/clock.ts';
import type { Op } from '../data/history.ts';
import { OUTCOMES, unplaced } from '../data/status.ts';
import type { Field } from '../data/types.ts';
import { blocked, report, selection, statusOf, statusWords, stepOf, waiting } from '../state.ts';
import { brief, count, many } from '../text.ts';
import { plainField } from './compare.ts';
import { liveHistory } from './local.ts';
import { Button, Copy, Fact, Few, Placed, Table } from './parts.tsx';
import { timebox } from './steps.tsx';
import { Value } from './value.tsx';

export function LogTab() {
  const past = liveHistory();
  if (!past) return null;
  return (
    <div class="padded log">
      <Selected />
      <Events />
      <Unplaced />
    </div>
  );
}

function Selected() {
  const past = liveHistory()!;
  const at = selection.value;
  const op = at === null ? null : past.op(at);
  if (at === null || !op) return <p class="quiet">Select an operation to see its record.</p>;
  const words = statusWords(statusOf(at)).join(' ');
  const step = stepOf(at);
  const process = past.timeline.processes[op.process] ?? '';
  const took = op.end === null ? null : op.end - op.start;
  const outcome = past.outcomeOf(op.at);
  return (
    <section aria-labelledby="h-op">
      <div class="line">
        <h3 id="h-op">
          {brief(op.name, 60)} <code>{brief(op.text, 160)}</code>
        </h3>
        <span class={`tag ${statusOf(at)}`}>
          {words}
          {step !== null && ` as step #${count(step + 1)}`}
        </span>
        <Copy text={op.name} what="name" label="Copy name" />
      </div>
      <dl class="record">
        <Entry name="process" value={process} />
        <Entry name="index" value={count(op.index)} />
        <Entry name="action" value={op.action} />
        {fields('argument', op.args)}
        {fields('result', op.results)}
        {outcome && <Entry name="outcome" value={`${OUTCOMES[outcome].word}: ${OUTCOMES[outcome].meaning}`} />}
        {!past.hasPoints && <Entry name={blocked.value === null ? 'time' : 'to the failure'} value={timebox(op)} />}
        {took !== null && took > 0 && <Entry name="duration" value={duration(took, past.clock)} />}
        <Entry name="recorded" value={recorded(op, past.timeline.origin)} />
        {fields('metadata', op.meta)}
      </dl>
    </section>
  );
}

/** The interval of an operation as recorded. Computed with BigInt, because times exceed 2^53. */
function recorded({ start, end }: Op, origin: string): string {
  const [from, to] = [start, end].map(time =>
    time === null ? '…' : String(BigInt(origin) + BigInt(Math.round(time))),
  );
  return from === to ? from! : `[${from}, ${to}]`;
}

function fields(kind: string, values: Field[]) {
  return values.map((field, at) => (
    <Entry name={field.name ? `${kind} ${field.name}` : `${kind} ${at + 1}`} value={plainField(field.value)} />
  ));
}

function Entry({ name, value }: { name: string; value: string }) {
  return (
    <Fact name={brief(name, 60)}>
      <Value text={value} width={400} />
    </Fact>
  );
}

/** A table of faults and annotations, which the timeline draws above the lanes. */
function Events() {
  const { events, timeline } = liveHistory()!;
  if (events.length === 0) return null;
  const zero = BigInt(timeline.origin);
  const time = (ticks: number) => String(zero + BigInt(Math.round(ticks)));
  return (
    <section aria-labelledby="h-events">
      <h3 id="h-events">Faults and annotations</h3>
      <Table name="Faults and annotations" kind="unplaced" columns={['event', 'time', 'concerns', 'text']}>
        <Few
          items={events}
          most={24}
          columns={4}
          draw={({ name, tag, start, end, nodes, text }) => (
            <tr>
              <th scope="row">{brief(tag ? `${name} (${tag})` : name, 80)}</th>
              <td>{end === start ? time(start) : `[${time(start)}, ${time(end)}]`}</td>
              <td>{brief(nodes.join(', ') || 'all', 80)}</td>
              <td>{brief(text, 300)}</td>
            </tr>
          )}
        />
      </Table>
    </section>
  );
}

/** A table of the unplaced operations; for an accepted history, of the unfinished ones that the order leaves out. */
function Unplaced() {
  const past = liveHistory()!;
  const [most, setMost] = useState(24);
  const stuck = blocked.value;
  const kind = report.value?.verdict.kind;
  const found: number[] = [];
  let more = false;
  if (stuck !== null) {
    const { long } = past.timeline;
    const isLoaded = (at: number) => past.chunkOf(at) !== null;
    const candidates = { blocked: stuck, waiting: waiting.value, long, size: past.size, isLoaded, statusOf };
    const rows = unplaced(candidates, most);
    found.push(...rows.found);
    more = rows.more;
  } else if (kind === 'accepted') {
    for (const at of past.timeline.long) if (statusOf(at) === 'after') found.push(at);
  }
  const shown = found.slice(0, most);
  useEffect(() => {
    if (stuck !== null) void past.ensure(stuck, Math.min(past.size - 1, stuck + most));
  }, [past, stuck, most]);
  if (found.length === 0) return null;
  return (
    <section aria-labelledby="h-unplaced">
      <h3 id="h-unplaced">
        {kind === 'accepted' ? 'Unfinished operations, taken as not having happened' : 'Unplaced operations'}
      </h3>
      <Table name="Unplaced operations" kind="unplaced" columns={['status', 'operation', 'time', 'metadata']}>
        {shown.map(at => {
          const op = past.op(at);
          return (
            op && (
              <tr>
                <td class={`tag ${statusOf(at)}`}>{statusWords(statusOf(at)).join(' ')}</td>
                <td>
                  <Placed at={at} />
                </td>
                <td>{timebox(op)}</td>
                <td>{brief(op.meta.map(field => `${field.name} = ${field.value}`).join(', '), 120)}</td>
              </tr>
            )
          );
        })}
      </Table>
      {(more || found.length > most) && (
        <Button class="more" onClick={() => setMost(most + 60)}>
          show more
        </Button>
      )}
      <p class="quiet">{kind === 'accepted' ? many(found.length, 'operation') : ''}</p>
    </section>
  );
}
