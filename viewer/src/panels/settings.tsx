// Settings of the view: the order of the lanes, the length of values, the theme.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { blocked, collapsed, contradicting, laneOrder, type Theme, theme, valueWidth } from '../state.ts';
import { lanes } from '../timeline/picture.ts';

const open = signal(false);
const WIDTHS = [40, 80, 160, 400, 2000];

const ORDERS: [typeof laneOrder.value, string][] = [
  ['failure', 'by their part in the failure'],
  ['name', 'by name'],
];

const THEMES: [Theme, string][] = [
  ['auto', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

/** A button that opens the settings. */
export function Settings() {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open.value) return;
    box.current?.querySelector<HTMLElement>('select')?.focus();
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [open.value]);
  const idle = lanes.value?.idle ?? 0;
  const hasFailure = blocked.value !== null || contradicting.value.length > 0;
  return (
    <span
      class="share"
      ref={box}
      onKeyDown={event => {
        if (!open.value || event.key !== 'Escape') return;
        event.stopPropagation();
        open.value = false;
        box.current?.querySelector<HTMLElement>('button')?.focus();
      }}
    >
      <button
        type="button"
        aria-expanded={open.value}
        aria-label="Settings"
        title="Settings: order of lanes, length of values, theme"
        onClick={() => (open.value = !open.value)}
      >
        ⚙
      </button>
      {open.value && (
        <div class="menu settings" role="group" aria-label="Settings">
          {hasFailure && (
            <label>
              Lanes
              <select
                value={laneOrder.value}
                onChange={event => (laneOrder.value = event.currentTarget.value as typeof laneOrder.value)}
              >
                {ORDERS.map(([order, title]) => (
                  <option value={order}>{title}</option>
                ))}
              </select>
            </label>
          )}
          {idle > 0 && (
            <label class="check">
              <input
                type="checkbox"
                checked={collapsed.value}
                onChange={event => (collapsed.value = event.currentTarget.checked)}
              />
              Hide lanes without a part in the failure
            </label>
          )}
          <label>
            Values up to
            <select
              value={String(valueWidth.value)}
              onChange={event => (valueWidth.value = Number(event.currentTarget.value))}
            >
              {WIDTHS.map(width => (
                <option value={String(width)}>{width} characters</option>
              ))}
            </select>
          </label>
          <label>
            Theme
            <select value={theme.value} onChange={event => (theme.value = event.currentTarget.value as Theme)}>
              {THEMES.map(([name, title]) => (
                <option value={name}>{title}</option>
              ))}
            </select>
          </label>
        </div>
      )}
    </span>
  );
}
