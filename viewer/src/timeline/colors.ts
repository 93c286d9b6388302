// The colours of the canvas, read from the CSS variables, so that a theme is defined once.

/** The colours, and their values if a CSS variable is missing. */
const PLAIN = {
  placed: '#3b5bdb',
  placedSoft: '#dbe4ff',
  blocked: '#c92a2a',
  blockedSoft: '#ffe3e3',
  waiting: '#945f00',
  waitingSoft: '#fff3bf',
  after: '#868e96',
  afterSoft: '#e9ecef',
  event: '#7b2fa8',
  eventSoft: '#f3e0fd',
  line: '#3b5bdb',
  text: '#1a1a1e',
  muted: '#5c5f66',
  bg: '#ffffff',
  panel: '#f6f6f8',
  border: '#d7d8dd',
  accent: '#1c7ed6',
  accentSoft: '#d0ebff',
  /** Colours that tell actions apart. */
  kind1: '#3b5bdb',
  kind2: '#b35c00',
  kind3: '#0b7285',
  kind4: '#9c36b5',
  kind5: '#4d7c0f',
  kind6: '#6b7078',
};

export type Colors = typeof PLAIN;

let known: { key: string; colors: Colors } | null = null;

export function readColors(): Colors {
  const key = [
    document.documentElement.dataset.theme,
    ...['(prefers-color-scheme: dark)', 'print'].map(query => matchMedia(query).matches),
  ].join();
  if (known?.key === key) return known.colors;
  // Only an element has the value of a variable that depends on the theme.
  const probe = document.body.appendChild(document.createElement('i'));
  const colors = { ...PLAIN };
  for (const name of Object.keys(PLAIN) as (keyof Colors)[]) {
    probe.style.color = `var(--${name.replace('Soft', '-soft')})`;
    colors[name] = hex(getComputedStyle(probe).color) ?? colors[name];
  }
  probe.remove();
  known = { key, colors };
  return colors;
}

/** `rgb(1, 2, 3)` as `#010203`. */
function hex(color: string): string | null {
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color)?.slice(1);
  return parts ? `#${parts.map(part => Number(part).toString(16).padStart(2, '0')).join('')}` : null;
}
