// Everything that was recorded about the selected operation, and the operations that were never placed.

import { useEffect, useState } from 'preact/hooks';
import type { Field } from '../data/types.ts';
import { blocked, culprits, report, selection, statusOf, stepOf, waiting } from '../state.ts';
import { brief, count, many } from '../text.ts';
import { arriving, openMenu, showOperation } from './local.ts';
import { Copy } from './parts.tsx';
import { timebox } from './steps.tsx';
import { Value } from './value.tsx';

/** What became of an operation, as a sign and a word. */
const STATUS: Record<string, [sign: string, word: string]> = {
  placed: ['✓', 'placed'],
  blocked: ['✗', 'blocked'],
  waiting: ['…', 'waiting'],
  after: ['·', 'after the failure'],
  uncounted: ['○', 'not counted: it failed without effect, or is checked apart'],
  unknown: ['?', 'not known'],
};

export function LogTab() {
  const past = arriving();
  if (!past) return null;
  return (
    <div class="padded log">
      <Selected />
      <Unplaced />
    </div>
  );
}

function Selected() {
  const past = arriving()!;
  const at = selection.value;
  const op = at === null ? null : past.op(at);
  if (at === null || !op) return <p class="quiet">Select an operation to see what was recorded about it.</p>;
  const [sign, word] = culprits.value.includes(at) ? ['✗', 'in the contradiction'] : STATUS[statusOf(at)]!;
  const step = stepOf(at);
  const process = past.timeline.processes[op.process] ?? '';
  const took = op.end === null ? null : op.end - op.start;
  return (
    <section aria-labelledby="h-op">
      <div class="line">
        <h3 id="h-op">
          {brief(op.name, 60)} <code>{brief(op.text, 160)}</code>
        </h3>
        <span class={`tag ${statusOf(at)}`}>
          {sign} {word}
          {step !== null && ` as step #${count(step + 1)}`}
        </span>
        <Copy text={op.name} what="the name" label="Copy name" />
      </div>
      <dl class="record">
        <Entry name="process" value={process} />
        <Entry name="number there" value={count(op.index)} />
        <Entry name="action" value={op.action} />
        {fields('argument', op.args)}
        {fields('result', op.results)}
        {op.end === null && (
          <Entry name="result" value="none: it never finished, and may or may not have taken effect" />
        )}
        <Entry name="timebox" value={timebox(op, past.timeline.origin)} />
        {took !== null && (
          <Entry
            name="duration"
            value={`${count(took)} ticks${took >= 1000 ? ` (${(took / 1000).toFixed(2)} µs if ticks are nanoseconds)` : ''}`}
          />
        )}
        <Entry
          name="ranks"
          value={`${count(op.from)} to ${op.end === null ? '…' : count(op.to)} of ${count(past.timeline.ranks)}`}
        />
        {fields('recorded', op.meta)}
      </dl>
    </section>
  );
}

function fields(kind: string, values: Field[]) {
  return values.map((field, at) => (
    <Entry name={field.name ? `${kind} ${field.name}` : `${kind} ${at + 1}`} value={field.value} />
  ));
}

function Entry({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{brief(name, 60)}</dt>
      <dd>
        <Value text={value} width={400} />
      </dd>
    </div>
  );
}

/** Operations that could not be placed: those that could be next, then those that began later, then the unfinished. */
function Unplaced() {
  const past = arriving()!;
  const [most, setMost] = useState(24);
  const stuck = blocked.value;
  const kind = report.value?.verdict.kind;
  const found: number[] = [];
  let more = false;
  if (stuck !== null) {
    found.push(...waiting.value);
    for (const at of past.timeline.long)
      if (at < stuck && !waiting.value.has(at) && statusOf(at) === 'waiting') found.push(at);
    for (let at = stuck + 1; at < past.size; at += 1) {
      if (found.length >= most) {
        more = true;
        break;
      }
      if (!past.chunkOf(at)) break;
      if (!waiting.value.has(at) && ['waiting', 'after'].includes(statusOf(at))) found.push(at);
    }
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
        {kind === 'accepted' ? 'Never finished, and taken as not having happened' : 'Operations that are not placed'}
      </h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Their table">
        <table class="unplaced">
          <thead>
            <tr>
              <th scope="col">status</th>
              <th scope="col">operation</th>
              <th scope="col">timebox</th>
              <th scope="col">recorded</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(at => {
              const op = past.op(at);
              const [sign, word] = STATUS[statusOf(at)]!;
              return (
                op && (
                  <tr>
                    <td class={`tag ${statusOf(at)}`}>
                      {sign} {word}
                    </td>
                    <td>
                      <button
                        type="button"
                        class="op"
                        onClick={() => void showOperation(at)}
                        onContextMenu={event => {
                          event.preventDefault();
                          openMenu({ x: event.clientX, y: event.clientY, name: op.name });
                        }}
                      >
                        {brief(`${op.name} ${op.text}`, 80)}
                      </button>
                    </td>
                    <td>{timebox(op, past.timeline.origin)}</td>
                    <td>{brief(op.meta.map(field => `${field.name} = ${field.value}`).join(', '), 120)}</td>
                  </tr>
                )
              );
            })}
          </tbody>
        </table>
      </div>
      {(more || found.length > most) && (
        <button type="button" class="more" onClick={() => setMost(most + 60)}>
          show more
        </button>
      )}
      <p class="quiet">{kind === 'accepted' ? many(found.length, 'operation') : ''}</p>
    </section>
  );
}
