// The context menu of an operation or a state: assumptions, related searches, copying.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { ending, filter, history, pins, states, stepAt, stepOf, tab } from '../state.ts';
import { brief } from '../text.ts';
import { type Item, Items, step } from './dropdown.tsx';
import { assume, pending } from './focus.ts';
import { copy, menu, notify, showNamed } from './local.ts';

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
      <Items items={items} close={() => (menu.value = null)} />
    </div>
  );
}

function itemsOf(name: string | null, state: string | null, way: number): Item[] {
  if (name) {
    return [
      ['Assume this before …', () => (pending.value = { name, before: true })],
      ['Assume this after …', () => (pending.value = { name, before: false })],
      ['Assume the state after this', () => void assumeAfter(name, state)],
      ['Show in the timeline', () => void showNamed(name, true)],
      ['Show its record', () => void showNamed(name).then(() => (tab.value = 'log'))],
      ['Find overlapping operations', () => (filter.value = `overlaps:${name}`)],
      ['Find operations that returned before this', () => (filter.value = `before:${name}`)],
      ['Find operations that began after this', () => (filter.value = `after:${name}`)],
      ['Pin lane', () => void pinLane(name)],
      ['Copy name', () => void copy(name, 'name')],
    ];
  }
  const op = state ? opOfState(state, way) : null;
  const assumes: Item[] = op ? [['Assume this state', () => void assume(`${op} = ${state}`)]] : [];
  return state ? [...assumes, ['Copy fingerprint', () => void copy(state, 'fingerprint')]] : [];
}

async function assumeAfter(name: string, state: string | null): Promise<void> {
  const id = state ?? (await stateAfter(name));
  if (id) await assume(`${name} = ${id}`);
  else notify(`the state after ${brief(name, 40)} is unknown`);
}

async function pinLane(name: string): Promise<void> {
  const past = history.value;
  const place = await past?.place(name);
  const op = place == null ? null : past?.op(place);
  if (op && !pins.value.includes(op.process)) pins.value = [...pins.value, op.process];
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
