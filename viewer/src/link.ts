// The address of what is on the screen: `#v=1&op=T0:12464&x=199892-199936&scale=order&tab=steps`.
//
// Only what differs from the page as it opens stands in it. Operations are called by their names and states by their
// fingerprints, so a link still fits after the same history was checked again somewhere else.

export interface Link {
  /** The selected operation. */
  op?: string;
  /** The selected step, if it is not the one of the operation. */
  step?: number;
  /** What the timeline shows, in ranks or in ticks, as the scale has it. */
  x?: [number, number];
  scale?: 'order' | 'time';
  /** Assumptions: `T0:12 < T3:7`, `T3:7 = 1a2b3c4d`. */
  focus: string[];
  tab?: string;
  /** The interpretation, counted from 1. */
  ending?: number;
  q?: string;
  /** Expressions to evaluate in every state. */
  watch: string[];
}

/** Encodes what a fragment may not hold, and leaves what makes it legible. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%2F/g, '/').replace(/%20/g, '+');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return text;
  }
}

/** Writes a link, without the `#`. Empty if there is nothing to say. */
export function format(link: Link): string {
  const parts: string[] = [];
  if (link.op !== undefined) parts.push(`op=${encode(link.op)}`);
  if (link.step !== undefined) parts.push(`step=${link.step}`);
  if (link.x !== undefined) parts.push(`x=${Math.round(link.x[0])}-${Math.round(link.x[1])}`);
  if (link.scale !== undefined) parts.push(`scale=${link.scale}`);
  for (const focus of link.focus) parts.push(`focus=${encode(focus)}`);
  if (link.tab !== undefined) parts.push(`tab=${encode(link.tab)}`);
  if (link.ending !== undefined) parts.push(`ending=${link.ending}`);
  if (link.q) parts.push(`q=${encode(link.q)}`);
  for (const watch of link.watch) parts.push(`watch=${encode(watch)}`);
  return parts.length === 0 ? '' : `v=1&${parts.join('&')}`;
}

/** Reads a link. What it does not understand, it leaves out: a link may come from anybody. */
export function parse(hash: string): Link {
  const link: Link = { focus: [], watch: [] };
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    const key = part.slice(0, at);
    const value = decode(part.slice(at + 1));
    const whole = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
    if (key === 'op' && value.length <= 256) link.op = value;
    else if (key === 'step' && whole !== undefined) link.step = whole;
    else if (key === 'x') {
      const ends = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(value);
      if (ends && Number(ends[1]) < Number(ends[2])) link.x = [Number(ends[1]), Number(ends[2])];
    } else if (key === 'scale' && (value === 'order' || value === 'time')) link.scale = value;
    else if (key === 'focus' && value.length <= 512) link.focus.push(value);
    else if (key === 'tab' && /^[a-z]+$/.test(value)) link.tab = value;
    else if (key === 'ending' && whole !== undefined && whole > 0) link.ending = whole;
    else if (key === 'q' && value.length <= 4096) link.q = value;
    else if (key === 'watch' && value.length <= 4096) link.watch.push(value);
  }
  return link;
}
