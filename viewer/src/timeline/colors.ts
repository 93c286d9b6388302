// The colours of the canvas, read from the CSS variables, so that a theme is defined once.

export interface Colors {
  placed: string;
  placedSoft: string;
  blocked: string;
  blockedSoft: string;
  waiting: string;
  waitingSoft: string;
  after: string;
  afterSoft: string;
  event: string;
  eventSoft: string;
  line: string;
  text: string;
  muted: string;
  bg: string;
  panel: string;
  border: string;
  accent: string;
  accentSoft: string;
  /** Colours that tell actions apart. */
  kind1: string;
  kind2: string;
  kind3: string;
  kind4: string;
  kind5: string;
  kind6: string;
}

/** Defaults for missing CSS variables. */
const PLAIN: Colors = {
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
  kind1: '#3b5bdb',
  kind2: '#b35c00',
  kind3: '#0b7285',
  kind4: '#9c36b5',
  kind5: '#4d7c0f',
  kind6: '#6b7078',
};

/** The current colours. */
export function readColors(): Colors {
  const style = getComputedStyle(document.documentElement);
  const colors = { ...PLAIN };
  for (const key of Object.keys(PLAIN) as (keyof Colors)[]) {
    const name = `--${key.replace('Soft', '-soft')}`;
    const value = style.getPropertyValue(name).trim();
    if (value) colors[key] = value;
  }
  return colors;
}
