// The URL fragment that describes the view: `#v=1&op=T0:12464&x=199892-199936&scale=order&tab=steps`.
//
// It holds only differences from a freshly opened page. Operations are identified by name and states by fingerprint, so
// a link stays valid after the same history is checked again elsewhere.

export interface Link {
  op?: string;
  /** The selected step, if it is not the last step of the operation. */
  step?: number;
  /** The visible range of the timeline, in ranks or ticks depending on the scale. */
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

/** Percent-encodes a value, but keeps `:`, `,` and `/` and writes blanks as `+`, for legibility. */
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

/** Formats a link without the `#`. Empty if nothing differs from a fresh page. */
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

/** Parses a link. Ignores invalid parts, because links are untrusted. */
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
