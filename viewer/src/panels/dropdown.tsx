// A button that opens a box below it. A click elsewhere or Escape closes the box, and Escape returns to the button.

import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './parts.tsx';

interface Props {
  open: Signal<boolean>;
  name: string;
  title: string;
  sign: string;
  /** What gets the focus when it opens. */
  first: string;
  /** The box is a menu, and this moves between its items. */
  step?: (event: KeyboardEvent, box: HTMLElement) => void;
  children: ComponentChildren;
}

export function Dropdown({ open, name, title, sign, first, step, children }: Props) {
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!open.value) return;
    box.current?.querySelector<HTMLElement>(first)?.focus();
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [open.value]);
  return (
    <span
      class="share"
      ref={box}
      onKeyDown={event => {
        if (!open.value) return;
        if (event.key === 'Escape') {
          event.stopPropagation();
          open.value = false;
          box.current?.querySelector<HTMLElement>('button')?.focus();
        } else step?.(event, box.current!);
      }}
    >
      <Button
        {...(step ? { 'aria-haspopup': 'menu' as const } : {})}
        aria-expanded={open.value}
        aria-label={sign.startsWith(name) ? undefined : name}
        title={title}
        onClick={() => (open.value = !open.value)}
      >
        {sign}
      </Button>
      {open.value && children}
    </span>
  );
}

/** An entry of a menu, and what it does. */
export type Item = [title: string, act: () => void];

/** The entries of a menu; `close` comes before what an entry does. */
export function Items({ items, close }: { items: Item[]; close: () => void }) {
  return items.map(([title, act]) => (
    <Button
      role="menuitem"
      tabIndex={-1}
      onClick={() => {
        close();
        act();
      }}
    >
      {title}
    </Button>
  ));
}

export function MenuButton({ open, name, title, items }: Pick<Props, 'open' | 'name' | 'title'> & { items: Item[] }) {
  return (
    <Dropdown open={open} name={name} title={title} sign={`${name} ▾`} first="[role=menuitem]" step={step}>
      <div class="menu" role="menu" aria-label={name}>
        <Items items={items} close={() => (open.value = false)} />
      </div>
    </Dropdown>
  );
}

export function step(event: KeyboardEvent, box: HTMLElement): void {
  const items = [...box.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (to === undefined || items.length === 0) return;
  event.preventDefault();
  event.stopPropagation();
  items[(to + items.length) % items.length]?.focus();
}
