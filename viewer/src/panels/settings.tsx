// Settings of the view: the order of the lanes, the length of values, the theme.

import { signal } from '@preact/signals';
import { collapsed, history, laneOrder, type Theme, theme, valueWidth } from '../state.ts';
import { lanes } from '../timeline/picture.ts';
import { Dropdown } from './dropdown.tsx';

const open = signal(false);
const WIDTHS = [40, 80, 160, 400, 2000];

const ORDERS: [typeof laneOrder.value, string][] = [
  ['name', 'by name'],
  ['node', 'by node'],
];

const THEMES: [Theme, string][] = [
  ['auto', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

/** A button that opens the settings. */
export function Settings() {
  const idle = lanes.value?.idle ?? 0;
  return (
    <Dropdown
      open={open}
      name="Settings"
      title="Settings: order of lanes, length of values, theme"
      sign="⚙"
      first="select"
    >
      <div class="menu settings" role="group" aria-label="Settings">
        {history.value?.hasNodes && (
          <label>
            Lanes
            <select
              value={lanes.value?.order ?? 'name'}
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
    </Dropdown>
  );
}
