// One state: all variables, what the step changed, and watched expressions.
//
// Functions and records are tables. `A`, `M` and `D` mean added, modified and deleted since the previous state.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import {
  blocked,
  ending,
  history,
  isAtBlocked,
  refresh,
  run,
  showLatestStates,
  showStatesUntil,
  states,
  step,
  stepAt,
  stepCount,
  watch,
} from '../state.ts';
import { brief, count } from '../text.ts';
import { assume } from './focus.ts';
import { liveHistory } from './local.ts';
import { Logged } from './logged.tsx';
import { Button, Copy, Few, Head, Unseen } from './parts.tsx';
import { Pieces } from './steps.tsx';
import { columnsOf, isTable, type Keyed, parseValue, print } from './tla.ts';
import { Value } from './value.tsx';

const hideSame = signal(false);
/** Maximum number of rows of a table before it is expanded. */
const ROWS = 60;

export function StateTab() {
  const known = states.value;
  const past = liveHistory();
  if (!known || !past || known.part.ids.length === 0) return <p class="empty">This page contains no states.</p>;
  const at = step.value ?? stepCount.value - 1;
  const after = known.state(at + 1, ending.value);
  const before = known.state(at, ending.value);
  const id = known.id(at + 1, ending.value);
  const taken = stepAt(at);
  const op = taken ? past.op(taken.op) : null;
  const variables = known.variables;
  const isStuck = isAtBlocked();
  const event = isStuck ? past.op(blocked.value!) : op;
  const changed = variables.map((_, variable) => !!before && !!after && before[variable] !== after[variable]);
  return (
    <div class="padded state">
      <div class="line">
        <h3>
          {at < 0 ? 'Initial state' : <>State after step #{count(at + 1)}</>}
          {op && <code> {brief(`${op.name} ${op.text}`, 80)}</code>}
        </h3>
        {id && <code class="quiet">{id}</code>}
        <label>
          <input
            type="checkbox"
            checked={hideSame.value}
            onChange={event => (hideSame.value = event.currentTarget.checked)}
          />{' '}
          hide unchanged
        </label>
        {id && op && !taken?.partway && (
          <Button class="small" onClick={() => void assume(`${op.name} = ${id}`)}>
            Assume this state
          </Button>
        )}
        {after && <Copy text={variables.map((name, at) => `/\\ ${name} = ${after[at]}`).join('\n')} what="state" />}
      </div>
      {past.hasPoints && event && (
        <Logged
          op={event}
          process={past.timeline.processes[event.process] ?? ''}
          variables={variables}
          values={after}
          isAfter={!isStuck}
        />
      )}
      {!after && <Unknown at={at} />}
      {known.earlier && (
        <p class="quiet">
          States after steps {count(known.earlier.part.first)} to {count(known.earlier.part.until)} are loaded in
          addition to the latest.{' '}
          <Button class="small" onClick={showLatestStates}>
            Latest states
          </Button>
        </p>
      )}
      {after && (
        <table class="variables">
          <Head columns={[<Unseen>Change</Unseen>, 'Variable', 'Value']} />
          <tbody>
            {variables.map((name, variable) =>
              hideSame.value && !changed[variable] ? null : (
                <tr class={changed[variable] ? 'changed' : ''}>
                  <td>{changed[variable] ? <b title="modified">M</b> : ''}</td>
                  <th scope="row">
                    {variable >= variables.length - known.part.watched && <span title="watched expression">ƒ </span>}
                    {brief(name, 80) || 'state'}
                  </th>
                  <td>
                    <Shown before={before?.[variable] ?? null} after={after[variable]!} />
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      )}
      <Watch />
    </div>
  );
}

function Unknown({ at }: { at: number }) {
  const known = states.value!;
  const { first, until } = known.part;
  return (
    <p class="quiet">
      Only states after steps {count(first)} to {count(until)} are loaded.{' '}
      {run.value?.served ? (
        <Button
          class="small"
          onClick={() => void showStatesUntil(Math.min(at + 200, history.value?.timeline.steps ?? at))}
        >
          Load states around step #{count(at + 1)}
        </Button>
      ) : (
        '`omnilink view` shows all of them: see the commands on the right.'
      )}
    </p>
  );
}

function Shown({ before, after }: { before: string | null; after: string }) {
  const node = parseValue(after);
  if (isTable(node)) {
    const old = before === null ? null : parseValue(before);
    return <Table node={node} before={isTable(old) ? old : null} marks={before !== null} />;
  }
  if (before !== null && before !== after) return <Pieces before={before} after={after} width={600} />;
  return <Value text={after} width={600} />;
}

function Table({ node, before, marks }: { node: Keyed; before: Keyed | null; marks: boolean }) {
  const columns = columnsOf(node);
  const wide = columns?.length ?? 1;
  const old = new Map((before?.entries ?? []).map(({ key, value }) => [key, print(value)]));
  const keys = new Set(node.entries.map(({ key }) => key));
  const gone = marks && before ? before.entries.filter(({ key }) => !keys.has(key)) : [];
  const rows = node.entries.map(({ key, value }) => {
    const was = old.get(key);
    const now = print(value);
    const mark = !marks || !before ? '' : was === undefined ? 'A' : was !== now ? 'M' : '';
    return { key, value, was, now, mark };
  });
  const kept = hideSame.value && marks && before ? rows.filter(row => row.mark !== '') : rows;
  return (
    <table class="function">
      {columns && <Head columns={[<Unseen>Change</Unseen>, 'key', ...columns.map(column => brief(column, 40))]} />}
      <tbody>
        <Few
          items={kept}
          most={ROWS}
          columns={wide + 2}
          draw={row => (
            <tr class={row.mark}>
              <td class="mark">{row.mark}</td>
              <th scope="row">{brief(row.key, 60)}</th>
              {columns && row.value.kind === 'record' ? (
                row.value.entries.map(({ value }) => (
                  <td>
                    <Value text={print(value)} />
                  </td>
                ))
              ) : (
                <td>
                  {row.mark === 'M' && row.was !== undefined ? (
                    <Pieces before={row.was} after={row.now} width={200} />
                  ) : (
                    <Value text={row.now} />
                  )}
                </td>
              )}
            </tr>
          )}
        />
        {gone.slice(0, ROWS).map(({ key, value }) => (
          <tr class="D">
            <td class="mark">D</td>
            <th scope="row">
              <del>{brief(key, 60)}</del>
            </th>
            <td colSpan={wide}>
              <del>{brief(print(value), 200)}</del>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Watched expressions, which only a server can evaluate. */
function Watch() {
  const [text, setText] = useState('');
  if (!run.value?.served?.evaluate) return null;
  const add = async () => {
    const expression = text.trim();
    if (expression === '' || watch.value.includes(expression)) return;
    watch.value = [...watch.value, expression];
    if (await refresh()) setText('');
  };
  return (
    <form
      class="watch"
      onSubmit={event => {
        event.preventDefault();
        void add();
      }}
    >
      <label>
        Watch TLA+ expression{' '}
        <input
          type="text"
          value={text}
          placeholder="Len(queue)"
          spellcheck={false}
          onInput={event => setText(event.currentTarget.value)}
        />
      </label>{' '}
      <button type="submit" class="small">
        Evaluate
      </button>
      {watch.value.map(expression => (
        <span class="chip">
          <code>{brief(expression, 80)}</code>
          <Button
            aria-label={`Stop watching ${brief(expression, 80)}`}
            onClick={() => {
              watch.value = watch.value.filter(each => each !== expression);
              void refresh();
            }}
          >
            ×
          </Button>
        </span>
      ))}
    </form>
  );
}
