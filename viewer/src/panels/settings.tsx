// Settings of the view: the order of the lanes, the length of values, the theme.

import { signal } from '@preact/signals';
import { collapsed, history, laneOrder, type Theme, theme, valueWidth } from '../state.ts';
import { lanes } from '../timeline/picture.ts';
import { Dropdown } from './dropdown.tsx';

const open = signal(false);
const WIDTHS = [40, 80, 160, 400, 2000].map((width): [number, string] => [width, `${width} characters`]);

const ORDERS: [typeof laneOrder.value, string][] = [
  ['name', 'by name'],
  ['node', 'by node'],
];

const THEMES: [Theme, string][] = [
  ['auto', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

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
          <Select
            title="Lanes"
            value={lanes.value?.order ?? 'name'}
            options={ORDERS}
            set={to => (laneOrder.value = to)}
          />
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
        <Select title="Values up to" value={valueWidth.value} options={WIDTHS} set={to => (valueWidth.value = to)} />
        <Select title="Theme" value={theme.value} options={THEMES} set={to => (theme.value = to)} />
      </div>
    </Dropdown>
  );
}

/** A choice among a few values. */
function Select<T extends string | number>({ title, value, options, set }: SelectProps<T>) {
  return (
    <label>
      {title}
      <select value={value} onChange={event => set(options[event.currentTarget.selectedIndex]![0])}>
        {options.map(([each, name]) => (
          <option value={each}>{name}</option>
        ))}
      </select>
    </label>
  );
}

interface SelectProps<T> {
  title: string;
  value: T;
  options: [value: T, name: string][];
  set: (value: T) => void;
}
