// The context menu of an operation or a state: assumptions, related searches, copying.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { ending, filter, history, pins, states, stepAt, stepOf, tab } from '../state.ts';
import { brief } from '../text.ts';
import { step } from './dropdown.tsx';
import { assume, pending } from './focus.ts';
import { copy, menu, notify, showOperation } from './local.ts';

export function ContextMenu() {
  const about = menu.value;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!about) return;
    const before = document.activeElement as HTMLElement | null;
    const element = box.current;
    if (element) {
      // Keeps the menu inside the window.
      const { width, height } = element.getBoundingClientRect();
      element.style.left = `${Math.max(4, Math.min(about.x, innerWidth - width - 4))}px`;
      element.style.top = `${Math.max(4, Math.min(about.y, innerHeight - height - 4))}px`;
      element.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    }
    const close = (event: Event) => {
      if (!element?.contains(event.target as Node)) menu.value = null;
    };
    addEventListener('pointerdown', close);
    return () => {
      removeEventListener('pointerdown', close);
      if (before?.isConnected && document.activeElement === document.body) before.focus({ preventScroll: true });
    };
  }, [about]);
  if (!about) return null;
  const items = itemsOf(about.name ?? null, about.state ?? null, about.way ?? ending.value);
  return (
    <div
      ref={box}
      class="menu context"
      role="menu"
      aria-label={brief(about.name ?? `state ${about.state}`, 60)}
      onKeyDown={event => {
        if (event.key === 'Escape' || event.key === 'Tab') {
          event.stopPropagation();
          event.preventDefault();
          menu.value = null;
        } else step(event, box.current!);
      }}
    >
      <p class="title" role="presentation">
        {brief(about.name ?? `state ${about.state}`, 60)}
      </p>
      {items.map(([title, act]) => (
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            menu.value = null;
            act();
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function itemsOf(name: string | null, state: string | null, way: number): [string, () => void][] {
  const items: [string, () => void][] = [];
  if (state && !name) {
    const op = opOfState(state, way);
    if (op) items.push(['Assume this state', () => void assume(`${op} = ${state}`)]);
    items.push(['Copy fingerprint', () => void copy(state, 'fingerprint')]);
  }
  if (name) {
    items.push(['Assume this before …', () => (pending.value = { name, before: true })]);
    items.push(['Assume this after …', () => (pending.value = { name, before: false })]);
    items.push([
      'Assume the state after this',
      async () => {
        const id = state ?? (await stateAfter(name));
        if (id) await assume(`${name} = ${id}`);
        else notify(`the state after ${brief(name, 40)} is unknown`);
      },
    ]);
    items.push(['Show in the timeline', () => void goTo(name, true)]);
    items.push([
      'Show its record',
      async () => {
        await goTo(name, false);
        tab.value = 'log';
      },
    ]);
    items.push(['Find overlapping operations', () => (filter.value = `overlaps:${name}`)]);
    items.push(['Find operations that returned before this', () => (filter.value = `before:${name}`)]);
    items.push(['Find operations that began after this', () => (filter.value = `after:${name}`)]);
    items.push([
      'Pin lane',
      async () => {
        const past = history.value;
        const place = await past?.place(name);
        const op = place == null ? null : past?.op(place);
        if (op && !pins.value.includes(op.process)) pins.value = [...pins.value, op.process];
      },
    ]);
    items.push(['Copy name', () => void copy(name, 'name')]);
  }
  return items;
}

async function goTo(name: string, fit: boolean): Promise<void> {
  const place = await history.value?.place(name);
  if (place != null) await showOperation(place, fit);
}

/** The fingerprint of the state after an operation, in the chosen interpretation; null if unknown. */
async function stateAfter(name: string): Promise<string | null> {
  const place = await history.value?.place(name);
  const at = place == null ? null : stepOf(place);
  if (at === null || stepAt(at)?.partway !== false) return null;
  return states.value?.id(at + 1, ending.value) ?? null;
}

/** The last operation that leads to a state in an interpretation; null if none completes there. */
function opOfState(id: string, way: number): string | null {
  const known = states.value;
  const past = history.value;
  if (!known || !past) return null;
  const { first, until, endings } = known.part;
  for (let at = until + (endings[way]?.steps.length ?? 0) - 1; at >= first; at -= 1) {
    const step = known.id(at + 1, way) === id ? stepAt(at, way) : null;
    if (step && !step.partway) return past.name(step.op);
  }
  return null;
}
