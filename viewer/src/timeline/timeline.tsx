// The lanes, with mouse control: drag to pan, wheel to zoom, click to select, double click to fit. The keyboard and the
// list of steps, the accessible equivalent of this canvas, offer the same; the label of the canvas describes what is
// visible.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Clock, duration, moment as momentOf } from '../data/clock.ts';
import { OUTCOMES } from '../data/status.ts';
import {
  allBlocked,
  collapsed,
  failureWord,
  history,
  pan,
  pins,
  scale,
  select,
  selection,
  showOperation,
  showRange,
  showWhole,
  statusOf,
  statusWords,
  stepAt,
  stepOf,
  zoom,
} from '../state.ts';
import { brief, list, many } from '../text.ts';
import { listener, useCanvas } from './canvas.ts';
import { drawLanes } from './draw.ts';
import { eventAt } from './faults.ts';
import { rangeAt } from './flight.ts';
import type { LaneOrder } from './lanes.ts';
import { Measure, measured } from './measure.tsx';
import { missedLines } from './missed.ts';
import { geometry, lanes, noteDrawn, pictureNow, scroll, size } from './picture.ts';
import { type Hidden, heightFor, hit, rowAt, type Scene, toMoment, toY } from './scene.ts';
import './timeline.css';

export interface TimelineProps {
  /** Called for a context menu on an operation; `x` and `y` are relative to the window. */
  onContext?: (at: number, x: number, y: number) => void;
}

interface Hover {
  /** The place of an operation, the index of an unlogged step or of an event, or a process. */
  at: number;
  of: 'operation' | 'unlogged' | 'process' | 'event';
  x: number;
  y: number;
}

const hover = signal<Hover | null>(null);
const label = signal('Timeline');
/** The unlogged steps in the last picture. */
let hidden: Hidden[] = [];
/** True if the last picture shows no single operations. */
let isCrowded = false;

export function Timeline({ onContext }: TimelineProps) {
  const { host, canvas } = useCanvas(
    size,
    () => {
      history.value?.version.value;
      pictureNow();
    },
    pen => {
      const picture = pictureNow();
      if (!picture) return;
      const scene = drawLanes(pen, picture);
      label.value = describe(scene);
      hidden = scene.hidden;
      isCrowded = scene.isCrowded;
      noteDrawn(scene.statuses);
    },
  );

  useEffect(() => {
    const target = canvas.current;
    if (!target) return;
    return listen(target, (at, x, y) => onContext?.(at, x, y));
  }, [onContext]);

  useEffect(() => selection.subscribe(reveal), []);

  const shape = geometry.value;
  const arranged = lanes.value;
  const height = history.value && arranged ? heightFor(history.value, arranged) : 160;
  const below = shape && arranged ? toY(shape, arranged.shown.length) : 0;
  return (
    <div class="timeline" ref={host} style={{ height: `${height}px` }}>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={label.value} />
      {shape && arranged && arranged.idle > 0 && below < shape.height && (
        <button
          type="button"
          class="more"
          aria-expanded={!collapsed.value}
          style={{ top: `${below + 3}px` }}
          onClick={() => {
            collapsed.value = !collapsed.value;
          }}
        >
          {arranged.hidden > 0 ? `+${arranged.hidden} processes` : `hide ${arranged.idle} processes`}
        </button>
      )}
      <Measure />
      <Tip />
    </div>
  );
}

function Tip() {
  const at = hover.value;
  const about = at && TIPS[at.of](at.at);
  if (!at || !about) return null;
  const { width, height } = size.value;
  const across = at.x > width / 2 ? { right: `${width - at.x + 12}px` } : { left: `${at.x + 12}px` };
  const down = at.y > height / 2 ? { bottom: `${height - at.y + 10}px` } : { top: `${at.y + 14}px` };
  return (
    <div class="tip" style={{ ...across, ...down }} aria-hidden="true">
      <b>{about.title}</b>
      {about.lines.join('\n')}
    </div>
  );
}

interface About {
  title: string;
  lines: string[];
}

/** What a tooltip says. */
const TIPS: Record<Hover['of'], (at: number) => About | null> = {
  operation: operationTip,
  unlogged: unloggedTip,
  process: processTip,
  event: eventTip,
};

function eventTip(at: number): About | null {
  const event = history.value?.events[at];
  if (!event) return null;
  const length = event.end - event.start;
  const lines = [
    brief(event.text, 400),
    length === 0 ? moment(event.start) : `${moment(event.start)} … ${moment(event.end)} (${duration(length, clock())})`,
    ...(event.nodes.length > 0 ? [`concerns ${brief(event.nodes.join(', '), 200)}`] : []),
  ];
  return { title: brief(event.tag ? `${event.name} (${event.tag})` : event.name, 240), lines };
}

const ORDERS: Record<LaneOrder, string> = {
  name: 'by name',
  node: 'by node',
};

function processTip(at: number): About | null {
  const name = history.value?.timeline.processes[at];
  if (name === undefined) return null;
  const order = `Lanes are ordered ${ORDERS[lanes.value?.order ?? 'name']}`;
  const isPinned = pins.value.includes(at);
  return { title: brief(name, 240), lines: [order, isPinned ? 'Click to unpin' : 'Click to pin it on top'] };
}

function operationTip(at: number): About | null {
  const past = history.value;
  const op = past?.op(at);
  if (!past || !op) return null;
  const taken = stepOf(at);
  const outcome = past.outcomeOf(at);
  const took = op.end === null ? '' : `${moment(op.end)} (${duration(op.end - op.start, past.clock)})`;
  const end = [took, outcome && OUTCOMES[outcome].word].filter(Boolean).join(', ');
  const lines = [
    `${brief(op.name, 60)} · ${statusWords(statusOf(at)).join(' ')}${taken === null ? '' : ` · step ${(taken + 1).toLocaleString('en')}`}`,
    op.start === op.end ? `event ${moment(op.start)}` : `${moment(op.start)} … ${end}`,
    ...op.meta.map(({ name, value }) => `${brief(name, 40)}: ${brief(value, 120)}`),
    ...missedLines(past, at, selection.value),
  ];
  return { title: brief(op.text, 240), lines };
}

function unloggedTip(at: number): About | null {
  const past = history.value;
  const step = past?.unlogged()[at];
  if (!past || !step) return null;
  const named = (place: number | null | undefined) => (place == null ? null : brief(past.name(place) ?? '', 60));
  const before = named(stepAt(step.before - 1)?.op);
  const after = named(stepAt(step.before)?.op);
  const lines = ['unlogged step: no event of the log shows it'];
  if (before) lines.push(`after ${before}`);
  if (after) lines.push(`before ${after}`);
  return { title: brief(step.action, 240), lines };
}

function clock(): Clock {
  return history.value?.clock ?? null;
}

function moment(time: number): string {
  return momentOf(time, clock(), BigInt(history.value?.timeline.origin ?? '0'));
}

/** Describes what is visible. */
function describe(scene: Scene): string {
  const shape = geometry.value;
  const past = history.value;
  if (!shape || !past) return 'Timeline';
  const seen = scene.boxes.length + scene.marks.reduce((sum, mark) => sum + mark.count, 0);
  const ends = [Math.max(0, shape.from), shape.to].map(at =>
    scale.value === 'time' && clock() === 'ns' ? duration(at, 'ns') : Math.round(at).toLocaleString('en'),
  );
  const what =
    scale.value === 'order' ? `events ${ends.join(' to ')} in order` : `times ${ends.join(' to ')} after the first`;
  const named = (at: number) => `${brief(past.name(at) ?? '', 60)} ${brief(past.text(at) ?? '', 80)}`;
  const failing = scene.boxes.map(box => box.at).filter(at => allBlocked.value.includes(at));
  const failure = failing.length === 0 ? '' : `; ${failureWord.value}: ${list(failing.map(named))}`;
  const chosen = selection.value;
  const missed = chosen === null ? [] : missedLines(past, chosen, null).map(line => `, ${line}`);
  const selected = chosen === null ? '' : `; selected: ${brief(past.name(chosen) ?? '', 60)}${missed.join('')}`;
  const count = lanes.value?.shown.length ?? 0;
  const order = count < 2 ? '' : ` ${ORDERS[lanes.value?.order ?? 'name']}`;
  const faults = past.events.filter(event => {
    const [from, to] = [event.start, event.end].map(time => (scale.value === 'time' ? time : past.rankOf(time)));
    return from! <= shape.to && to! >= shape.from;
  });
  const events = faults.length === 0 ? '' : `; events: ${list(faults.map(event => brief(event.name, 60)))}`;
  const plot = scene.isCrowded ? ', drawn as the number in flight' : '';
  return `Timeline of ${many(count, 'process', 'processes')}${order}, ${what}: ${many(seen, 'operation')}${plot}${failure}${events}${selected}`;
}

function reveal(at: number | null): void {
  const shape = geometry.peek();
  const chunk = at === null ? null : history.peek()?.chunkOf(at);
  if (!shape || !chunk || at === null) return;
  const row = lanes.peek()?.rows[chunk.process[at - chunk.first]!] ?? -1;
  if (row < 0) {
    collapsed.value = false;
    return;
  }
  const room = shape.height - shape.top;
  const top = row * shape.lane;
  if (top < shape.scroll) scroll.value = top;
  else if (top + shape.lane > shape.scroll + room) scroll.value = top + shape.lane - room;
}

/** Handles the mouse. Returns the function that stops it. */
function listen(target: HTMLCanvasElement, onContext: (at: number, x: number, y: number) => void): () => void {
  const { on, stop } = listener(target);
  let drag: { x: number; y: number; moved: boolean; measures: boolean } | null = null;

  const under = (event: MouseEvent) => {
    const past = history.value;
    const shape = geometry.value;
    if (!past || !shape || !lanes.value || isCrowded) return null;
    return hit(past, lanes.value, shape, event.offsetX, event.offsetY);
  };

  on('pointerdown', event => {
    if (event.button !== 0) return;
    target.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, y: event.offsetY, moved: false, measures: event.shiftKey };
    measured.value = null;
    hover.value = null;
  });
  on('pointermove', event => {
    const shape = geometry.value;
    if (!shape) return;
    if (!drag) {
      const [x, y] = [event.offsetX, event.offsetY];
      const step = hidden.find(step => Math.abs(step.x - x) + Math.abs(step.y - y) < 9);
      const row = x < shape.left && lanes.value && !isCrowded ? rowAt(lanes.value, shape, y) : null;
      const process = row === null ? null : lanes.value!.shown[row]!;
      const fault = history.value ? eventAt(shape, history.value, x, y) : null;
      const at = process ?? fault ?? (step ? step.at : under(event));
      const of = process !== null ? 'process' : fault !== null ? 'event' : step ? 'unlogged' : 'operation';
      hover.value = at === null ? null : { at, of, x, y };
      target.style.cursor = isCrowded ? 'zoom-in' : at === null || step || fault !== null ? 'grab' : 'pointer';
      return;
    }
    const x = event.offsetX - drag.x;
    const y = event.offsetY - drag.y;
    if (!drag.moved && Math.abs(x) + Math.abs(y) < 4) return;
    if (drag.measures) {
      drag.moved = true;
      target.style.cursor = 'col-resize';
      const at = (x: number) => toMoment(shape, Math.max(shape.left, Math.min(shape.width, x)));
      measured.value = { on: scale.value, from: at(drag.x), to: at(event.offsetX) };
      return;
    }
    target.style.cursor = 'grabbing';
    drag = { x: event.offsetX, y: event.offsetY, moved: true, measures: false };
    pan(-x / (shape.width - shape.left));
    scrollBy(-y);
  });
  on('pointerup', event => {
    const clicked = drag && !drag.moved;
    drag = null;
    const shape = geometry.value;
    if (!clicked || !shape || !lanes.value) return;
    if (isCrowded) {
      if (event.offsetX > shape.left) showRange(scale.value, ...rangeAt({ geometry: shape }, event.offsetX));
      return;
    }
    if (event.offsetX < shape.left) {
      const row = rowAt(lanes.value, shape, event.offsetY);
      if (row !== null) togglePin(lanes.value.shown[row]!);
      return;
    }
    select(under(event));
  });
  on('pointercancel', () => (drag = null));
  on('pointerleave', () => (hover.value = null));
  on('dblclick', event => {
    if (isCrowded) return;
    const at = under(event);
    if (at === null) showWhole();
    else void showOperation(at, true);
  });
  on(
    'contextmenu',
    event => {
      const at = under(event);
      if (at === null) return;
      event.preventDefault();
      hover.value = null;
      onContext(at, event.clientX, event.clientY);
    },
    false,
  );
  on(
    'wheel',
    event => {
      const shape = geometry.value;
      if (!shape) return;
      event.preventDefault();
      hover.value = null;
      const unit = event.deltaMode === 1 ? 16 : 1;
      const inNames = event.offsetX < shape.left;
      if (event.shiftKey || inNames) scrollBy((event.deltaY || event.deltaX) * unit);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX * unit) / (shape.width - shape.left));
      else zoom(1.0016 ** (event.deltaY * unit), (event.offsetX - shape.left) / (shape.width - shape.left));
    },
    false,
  );
  return stop;
}

function scrollBy(pixels: number): void {
  const shape = geometry.value;
  if (!shape) return;
  scroll.value = Math.max(0, Math.min(shape.scroll + pixels, shape.content - (shape.height - shape.top)));
}

function togglePin(process: number): void {
  const now = pins.value;
  pins.value = now.includes(process) ? now.filter(pin => pin !== process) : [...now, process];
}
