// The two dialogs: the command palette with fuzzy search, and the help.

import { useEffect, useRef, useState } from 'preact/hooks';
import { COMMANDS } from './commands.ts';
import { OUTCOMES } from './data/status.ts';
import { dialog, showNamed } from './panels/local.ts';
import { Button } from './panels/parts.tsx';
import { history } from './state.ts';
import { brief } from './text.ts';

/** Fuzzy match score: all letters must occur in order; word starts and adjacent letters score higher. Null if they do
 * not match. */
export function fit(letters: string, title: string): number | null {
  const wanted = letters.toLowerCase().replace(/\s+/g, '');
  const text = title.toLowerCase();
  let score = 0;
  let at = -1;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    if (next === at + 1) score += 3;
    if (next === 0 || /\W/.test(text[next - 1]!)) score += 4;
    score -= (next - at) * 0.1;
    at = next;
  }
  return score;
}

/** A native dialog that is open while `dialog` holds its name. */
function useDialog(name: 'help' | 'palette') {
  const box = useRef<HTMLDialogElement>(null);
  const open = dialog.value === name;
  useEffect(() => {
    if (open && !box.current?.open) box.current?.showModal();
    if (!open && box.current?.open) box.current.close();
  }, [open]);
  return { box, open };
}

function close(): void {
  dialog.value = null;
}

export function Palette() {
  const { box, open } = useDialog('palette');
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => {
    setText('');
    setAt(0);
  }, [open]);
  const isName = /^\S+:\d+$/.test(text.trim()) && history.value !== null;
  const goTo = {
    title: `Go to operation ${brief(text.trim(), 40)}`,
    key: '',
    run: () => void showNamed(text.trim()),
  };
  const found = !open
    ? []
    : COMMANDS.filter(each => each.when())
        .map(each => ({ each, score: fit(text, each.title) }))
        .filter(({ score }) => score !== null)
        .sort((a, b) => b.score! - a.score!)
        .map(({ each }) => each);
  const shown = (isName ? [goTo, ...found] : found).slice(0, 12);
  const chosen = Math.min(at, shown.length - 1);
  const act = (place: number) => {
    close();
    const command = shown[place];
    // Runs after the dialog has restored the focus.
    if (command) requestAnimationFrame(() => command.run());
  };
  return (
    <dialog
      ref={box}
      class="palette"
      aria-label="Commands"
      onClose={close}
      onClick={event => event.target === box.current && close()}
    >
      {open && (
        <>
          <input
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={chosen >= 0 ? `command-${chosen}` : undefined}
            aria-label="Command"
            placeholder="Type a command, or an operation such as T3:88"
            spellcheck={false}
            autocomplete="off"
            autofocus
            value={text}
            onInput={event => {
              setText(event.currentTarget.value);
              setAt(0);
            }}
            onKeyDown={event => {
              const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
              if (to !== undefined) {
                event.preventDefault();
                setAt((to + shown.length) % Math.max(1, shown.length));
              } else if (event.key === 'Enter') {
                event.preventDefault();
                act(chosen);
              }
            }}
          />
          <ul id="commands" role="listbox" aria-label="Commands">
            {shown.map((command, place) => (
              <li id={`command-${place}`} role="option" aria-selected={place === chosen} onClick={() => act(place)}>
                <span>{command.title}</span>
                {command.key && <kbd>{command.key}</kbd>}
              </li>
            ))}
          </ul>
          {shown.length === 0 && <p class="quiet">No matches.</p>}
        </>
      )}
    </dialog>
  );
}

const SIGNS: [sign: string, meaning: string][] = [
  ['✓', 'placed: the operation is in the order; the thick tick in its box is where it takes effect'],
  ['✗', 'not legal: no order allows it, or it breaks an invariant'],
  ['…', 'waiting: it could be next, but is not placed'],
  ['·', 'it began after the failure, or is not in the order'],
  ['○', 'not counted: it failed without effect, or was checked separately'],
  ['?', 'unknown: its part of the order is not loaded'],
  ['1, 2', 'in the smallest part: the order in which its operations take effect'],
  ['continues', 'the operation takes effect in several steps, and continues after this one'],
  ['orders part', 'from this step on, the possible orders lead to different states'],
  ['before…', 'assume that this operation takes effect before another, which you choose next'],
  ['assume', 'assume the state after this step'],
  ['A, B', 'the possible states; an underlined value differs between them'],
  ['1→10', 'a function: 1 is mapped to 10'],
  ['old → new', 'struck out: removed; underlined: added; –: nothing changed'],
  ['event', 'the axis counts beginnings and ends of operations in their order; Time uses recorded times'],
  ['−4 … 0', 'times are relative to the end of the failing operation'],
  ...Object.values(OUTCOMES).map(({ word, meaning }): [string, string] => [word, meaning]),
  ['in flight', 'how many operations ran at once'],
  ['‹ legal until here', 'the failing operation would have been legal up to there, or from there on'],
];

const GROUPS = ['Move', 'Navigate', 'Find', 'View', 'Share', 'Other'] as const;

const EVERYWHERE = [
  ['Ctrl K', 'All commands (also Ctrl Shift P, and ⌘)'],
  ['Shift drag', 'Measure how long something took in the timeline'],
  ['Tab', 'Next control; Enter on a conjunct selects its operation'],
] as const;

function Key({ name, title }: { name: string; title: string }) {
  return (
    <div>
      <dt>
        <kbd>{name}</kbd>
      </dt>
      <dd>{title}</dd>
    </div>
  );
}

export function Help() {
  const { box, open } = useDialog('help');
  return (
    <dialog
      ref={box}
      class="help"
      aria-labelledby="h-help"
      onClose={close}
      onClick={event => event.target === box.current && close()}
    >
      {open && (
        <>
          <div class="line">
            <h2 id="h-help">Keys, signs and terms</h2>
            <Button onClick={close}>Close</Button>
          </div>
          <div class="columns">
            {GROUPS.map(group => (
              <section>
                <h3>{group}</h3>
                <dl>
                  {COMMANDS.filter(each => each.group === group && each.key).map(each => (
                    <Key name={each.key} title={each.title} />
                  ))}
                </dl>
              </section>
            ))}
            <section>
              <h3>Everywhere</h3>
              <dl>
                {EVERYWHERE.map(([key, title]) => (
                  <Key name={key} title={title} />
                ))}
              </dl>
            </section>
          </div>
          <h3>Search terms</h3>
          <p>
            <code>op:Dequeue</code> <code>val:49600</code> <code>thread:3</code> <code>status:blocked</code> (placed,
            waiting, after, uncounted, unfinished) <code>dur&gt;1ms</code> <code>before:T3:88</code>{' '}
            <code>after:T3:88</code> <code>overlaps:T3:88</code> <code>name:T3:88</code>, a named argument or result
            such as <code>elem:7</code>, and plain text. All terms must match; <code>-term</code> excludes. Enter goes
            to the first match, then to the next.
          </p>
          <h3>Signs</h3>
          <dl class="signs">
            {SIGNS.map(([sign, meaning]) => (
              <div>
                <dt>{sign}</dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <h3>Glossary</h3>
          <p>
            An operation is one call; it took effect at some point within its timebox, from its call to its return. A
            possible order explains the history up to the failure; placed operations are in it. No order allows the
            failing operation. Waiting operations must come after it. Operations that are not counted returned before
            the failure and are in no order: they failed without effect, or are checked separately.
          </p>
        </>
      )}
    </dialog>
  );
}
