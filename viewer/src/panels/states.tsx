// The possible states, with their differences marked. If the report groups them by the values that decide, there is one
// line per group with an example, and the others are folded.

import { useMemo, useState } from 'preact/hooks';
import { spelled } from '../data/spelling.ts';
import type { State, StateGroup } from '../data/types.ts';
import { ending, states as known } from '../state.ts';
import { brief, letter, many } from '../text.ts';
import { fitting } from './focus.ts';
import { choose, menuOf, ways } from './local.ts';
import { Button, Few } from './parts.tsx';
import { Marked, marked, Value } from './value.tsx';

interface Listed {
  states: State[];
  /** The interpretation that leads to each, -1 for none. */
  choosable: number[];
}

export function Possible({ states, choosable, groups }: Listed & { groups?: StateGroup[] | null | undefined }) {
  const grouped = (groups ?? [])
    .map(group => ({ ...group, states: group.states.filter(at => states[at] !== undefined) }))
    .filter(group => group.states.length > 0);
  const all = states.map((_, at) => at);
  // Groups of one state each say no more than the states.
  if (grouped.length === 0 || grouped.every(group => group.states.length === 1 && group.values.length === 0)) {
    return <StateList states={states} shown={all} choosable={choosable} />;
  }
  const left = all.filter(at => !grouped.some(group => group.states.includes(at)));
  return (
    <>
      <ul>
        <Few items={grouped} most={8} draw={group => <Group states={states} group={group} choosable={choosable} />} />
      </ul>
      {left.length > 0 && <Folded states={states} shown={left} choosable={choosable} word="other state" />}
    </>
  );
}

/** A group: the values that its states have in common, one of them, and the others folded. */
function Group({ states, group, choosable }: Listed & { group: StateGroup }) {
  const total = states.length;
  const [first, ...rest] = group.states;
  return (
    <li class="card stategroup">
      <p class="values">
        {group.values.map(({ name, value }, at) => (
          <>
            {at > 0 && ', '}
            {name && <code>{brief(name, 120)} = </code>}
            <b>
              <Value text={spelled(value)} />
            </b>
          </>
        ))}
        <span class="quiet">
          {group.values.length > 0 && ' · '}
          {group.states.length === total ? `all ${many(total, 'state')}` : many(group.states.length, 'state')}
          {rest.length > 0 && ', for example'}
        </span>
      </p>
      <StateList states={states} shown={[first!]} choosable={choosable} />
      {rest.length > 0 && <Folded states={states} shown={rest} choosable={choosable} word="more state" />}
    </li>
  );
}

/** States that are drawn once they are unfolded: there may be hundreds. */
function Folded({ word, ...list }: Listed & { shown: number[]; word: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{many(list.shown.length, word)}</summary>
      {open && <StateList {...list} />}
    </details>
  );
}

/** True if a variable is a function in some known state. */
function isFunction(names: string[], at: number, states: State[]): boolean {
  const variable = known.value?.variables.indexOf(names[at]!) ?? -1;
  if (variable >= 0 && known.value!.isFunction(variable)) return true;
  return states.some(state => state.variables[at]?.value.startsWith('(') === true);
}

/** Some of the states; choosing one chooses the interpretation that leads there. */
function StateList({ states, shown, choosable }: Listed & { shown: number[] }) {
  const [every, setEvery] = useState(false);
  const names = states[0]?.variables.map(field => field.name) ?? [];
  // Comparing many states is slow, and the result does not depend on the choice.
  const columns = useMemo(
    () =>
      names.map((_, at) =>
        marked(shown.map(state => spelled(states[state]?.variables[at]?.value ?? '', isFunction(names, at, states)))),
      ),
    [states, shown.join()],
  );
  const same = columns.map(values => values.every(words => words.every(word => !word.differs)));
  const hidden = shown.length > 1 ? same.filter(Boolean).length : 0;
  const fits = fitting.value;
  return (
    <ul class="card states">
      <Few
        items={shown}
        most={6}
        draw={(at, row) => {
          const state = states[at]!;
          const way = choosable[at] ?? -1;
          const canChoose = way >= 0 && way < ways.value;
          const chosen = canChoose && ending.value === way;
          const out = canChoose && fits !== null && !fits.includes(way);
          return (
            <li class={`${chosen ? 'chosen' : ''} ${out ? 'pruned' : ''}`}>
              <Button
                class="letter"
                aria-pressed={chosen}
                disabled={!canChoose}
                title={
                  !canChoose ? `state ${state.id}` : `Show the order that leads to state ${letter(at)} (${state.id})`
                }
                onClick={() => choose(way)}
                onContextMenu={menuOf({ state: state.id, ...(canChoose ? { way } : {}) })}
              >
                {letter(at)}
              </Button>
              <dl>
                {names.map((name, variable) =>
                  hidden > 0 && same[variable] && !every ? null : (
                    <div>
                      <dt class={name ? '' : 'offscreen'}>{brief(name, 60) || 'state'}</dt>
                      <dd>
                        <Marked words={columns[variable]?.[row] ?? []} />
                      </dd>
                    </div>
                  ),
                )}
              </dl>
            </li>
          );
        }}
      />
      {hidden > 0 && (
        <li class="rest">
          <Button class="more" aria-pressed={every} onClick={() => setEvery(!every)}>
            {every ? 'hide equal variables' : `${many(hidden, 'variable')} equal in all states`}
          </Button>
        </li>
      )}
    </ul>
  );
}
