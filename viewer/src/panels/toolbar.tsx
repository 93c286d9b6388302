// The toolbar above the timeline: filter, navigation, scale, sharing; and the line of assumptions.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { COMMANDS, cycle, nextTheme } from '../commands.ts';
import {
  allAssumed,
  allEndings,
  blocked,
  busy,
  ending,
  filter,
  history,
  matches,
  problem,
  report,
  type Status,
  scale,
  selection,
  setScale,
  statusWords,
  theme,
} from '../state.ts';
import { brief, count, many, paragraph } from '../text.ts';
import { drawn } from '../timeline/picture.ts';
import { enterMatch, isSearching, mistakes, nextMatch, rankAmong } from './find.ts';
import { assume, assumptions, drop, isChecked, pending, verdictOfFit } from './focus.ts';
import { dialog, shownOf, ways } from './local.ts';
import { Button, Copy } from './parts.tsx';
import { checkAgain } from './words.ts';

export function Toolbar() {
  const several = ways.value;
  return (
    <div class="toolbar" role="group" aria-label="Timeline">
      <h2>The whole history</h2>
      <Filter />
      <Tool name={blocked.value === null ? 'End' : 'Failure'} letter="e" />
      <Tool name="Earliest" letter="r" />
      <span class="joined" role="group" aria-label="Scale">
        <Button
          aria-pressed={scale.value === 'order'}
          title="Space beginnings and ends of operations equally (o)"
          onClick={() => setScale('order')}
        >
          Order
        </Button>
        <Button
          aria-pressed={scale.value === 'time'}
          title="Space them by recorded time (o)"
          onClick={() => setScale('time')}
        >
          Time <kbd>o</kbd>
        </Button>
      </span>
      <Tool name="All" letter="0" />
      {several > 1 && (
        <span class="joined" role="group" aria-label="Orders">
          <Button aria-label="Previous order" onClick={() => cycle(-1)}>
            ‹
          </Button>
          <Button
            aria-pressed={allEndings.value}
            title="Draw all possible orders"
            onClick={() => (allEndings.value = !allEndings.value)}
          >
            {ending.value + 1} of {shownOf(several)}
          </Button>
          <Button title="Next order (x)" aria-label="Next order" onClick={() => cycle(1)}>
            ›
          </Button>
        </span>
      )}
    </div>
  );
}

/** The button of the command with this key. */
function Tool({ name, letter }: { name: string; letter: string }) {
  const command = COMMANDS.find(each => each.key === letter)!;
  return command.when() ? (
    <Button title={`${command.title} (${letter})`} onClick={command.run}>
      {name} <kbd>{letter}</kbd>
    </Button>
  ) : null;
}

function Filter() {
  const found = matches.value;
  const at = selection.value;
  const wrong = mistakes.value;
  const here = found && at !== null ? rankAmong(found, at) : -1;
  const on = found && found[here] === at;
  const action = history.value?.timeline.actions.find(each => each.count > 0)?.name ?? 'Dequeue';
  return (
    <span class="filter">
      <input
        id="filter"
        type="search"
        aria-label="Find operations"
        aria-invalid={wrong.length > 0}
        aria-describedby="filter-note"
        placeholder={`Find: op:${brief(action, 14)}  ( / )`}
        title="Find operations (/): op:Dequeue val:5 thread:3, or any text. Enter goes to the next match. All terms: ?"
        spellcheck={false}
        autocomplete="off"
        value={filter.value}
        onInput={event => (filter.value = event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            event.preventDefault();
            void enterMatch(event.shiftKey ? -1 : 1);
          }
        }}
      />
      {/* Over the picture below, so that typing moves nothing. */}
      <span class={`found ${filter.value === '' ? 'none' : ''}`}>
        <span id="filter-note" class={wrong.length > 0 ? 'odd' : ''} role="status">
          {wrong.length > 0
            ? `! ${brief(wrong.join('; '), 200)}`
            : isSearching.value
              ? 'searching…'
              : found
                ? `${on ? `${count(here + 1)} of ` : ''}${many(found.length, 'match', 'matches')}`
                : ''}
        </span>
        {filter.value !== '' && (
          <>
            <Button
              class="small"
              title="Previous match (N, or Shift Enter)"
              aria-label="Previous match"
              onClick={() => void nextMatch(-1)}
            >
              ↑
            </Button>
            <Button
              class="small"
              title="Next match (n, or Enter)"
              aria-label="Next match"
              onClick={() => void nextMatch(1)}
            >
              ↓
            </Button>
          </>
        )}
      </span>
    </span>
  );
}

/** A button that shows the theme and switches to the next. */
function ThemeButton() {
  return (
    <Button title={`Theme: ${theme.value}`} aria-label={`Theme: ${theme.value}`} onClick={nextTheme}>
      {{ auto: '◐', light: '☀', dark: '☾' }[theme.value]}
    </Button>
  );
}

export function HelpButton() {
  return (
    <Button
      title="Help: keys and terms (?)"
      aria-label="Help"
      onClick={() => {
        dialog.value = 'help';
      }}
    >
      ?
    </Button>
  );
}

/** The banner of a page about many histories, with `children` below its title. */
export function ManyBanner({ sign, tone, title, tools, children }: ManyBannerProps) {
  return (
    <header class={`banner ${tone}`}>
      <div class="verdict">
        <h1>
          <span aria-hidden="true">{sign}</span> {title}
        </h1>
        {children}
      </div>
      <p class="tools">
        {tools} <ThemeButton /> <HelpButton />
      </p>
    </header>
  );
}

interface ManyBannerProps {
  sign: string;
  tone: string;
  title: ComponentChildren;
  tools?: ComponentChildren;
  children: ComponentChildren;
}

/** The colours and signs that the timeline currently shows, with their meaning. */
export function Legend() {
  const shown = drawn.value;
  if (history.value?.size === 0 || shown.size === 0) return null;
  const all: Status[] = ['placed', 'blocked', 'waiting', 'after', 'uncounted', 'unknown'];
  return (
    <span class="legend" aria-label="Legend" role="img">
      {all
        .filter(status => shown.has(status))
        .map(status => (
          <span class={status}>
            <i />
            {statusWords(status).join(' ')}
          </span>
        ))}
      {(history.value?.events.length ?? 0) > 0 && (
        <span class="event">
          <i />
          faults
        </span>
      )}
      {history.value?.hasMissed && (
        <span class="missing">
          <i />
          missed others
        </span>
      )}
    </span>
  );
}

/** Assumptions, the pending assumption, and errors. */
export function Chips() {
  const chips = assumptions.value;
  const waiting = pending.value;
  const wrong = problem.value ?? history.value?.problem.value ?? null;
  if (chips.length === 0 && !waiting && !wrong && !busy.value) return null;
  const check = report.value && checkAgain(report.value, allAssumed.value);
  return (
    <div class="chips" role="region" aria-label="Assumptions">
      {chips.map(chip => (
        <span class="chip">
          <span class="quiet">{isChecked.value ? 'assuming' : 'showing only'}</span> <code>{brief(chip, 120)}</code>
          <Button aria-label={`Drop assumption ${brief(chip, 120)}`} onClick={() => drop(chip)}>
            ×
          </Button>
        </span>
      ))}
      {waiting && (
        <span class="chip pending">
          Choose the operation that comes {waiting.before ? 'after' : 'before'} {brief(waiting.name, 40)}: in the
          timeline, in the list, or by name <ByName />
          <Button aria-label="Cancel" onClick={() => (pending.value = null)}>
            ×
          </Button>
        </span>
      )}
      {busy.value && <span class="quiet">checking…</span>}
      {chips.length > 0 && !isChecked.value && (
        <span>
          <b>{verdictOfFit()}</b>; a file cannot recheck the verdict
        </span>
      )}
      {chips.length > 0 && check && <Copy text={check} what="command" label="Copy the command that checks this" />}
      {wrong && (
        <div class="wrong" role="alert">
          ! {paragraph(wrong, 2000)}
        </div>
      )}
    </div>
  );
}

/** Input for the name of the second operation. */
function ByName() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <input
      ref={input}
      type="text"
      size={10}
      aria-label="Name of the other operation"
      placeholder="T3:88"
      spellcheck={false}
      onKeyDown={async event => {
        if (event.key === 'Escape') pending.value = null;
        if (event.key !== 'Enter') return;
        event.preventDefault();
        const name = event.currentTarget.value.trim();
        const place = await history.value?.place(name);
        if (place == null) problem.value = `no operation \`${name}\``;
        else complete(name);
      }}
    />
  );
}

/** Completes the pending assumption with its second operation. */
export function complete(name: string): void {
  const waiting = pending.value;
  if (!waiting || waiting.name === name) return;
  pending.value = null;
  problem.value = null;
  void assume(waiting.before ? `${waiting.name} < ${name}` : `${name} < ${waiting.name}`);
}
