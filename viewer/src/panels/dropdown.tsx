// A button that opens a box below it. A click elsewhere or Escape closes the box, and Escape returns to the button.

import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  open: Signal<boolean>;
  name: string;
  title: string;
  sign: string;
  /** What gets the focus when it opens. */
  first: string;
  /** The box is a menu, and this moves between its items. */
  step?: (event: KeyboardEvent, box: HTMLElement) => void;
  /** The box. */
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
      <button
        type="button"
        {...(step ? { 'aria-haspopup': 'menu' as const } : {})}
        aria-expanded={open.value}
        aria-label={sign.startsWith(name) ? undefined : name}
        title={title}
        onClick={() => (open.value = !open.value)}
      >
        {sign}
      </button>
      {open.value && children}
    </span>
  );
}

/** Moves the focus in a menu by arrow keys. */
export function step(event: KeyboardEvent, box: HTMLElement): void {
  const items = [...box.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (to === undefined || items.length === 0) return;
  event.preventDefault();
  event.stopPropagation();
  items[(to + items.length) % items.length]?.focus();
}
