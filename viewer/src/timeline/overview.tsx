// A long history in one strip: the number of operations in flight, on a logarithmic scale. A frame marks the viewport:
// drag it to pan, drag an edge to resize, click elsewhere to move it there.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { History } from '../data/history.ts';
import { allBlocked, history, scale, showRange, viewport } from '../state.ts';
import { listener, useCanvas } from './canvas.ts';
import { readColors } from './colors.ts';
import type { Pen } from './pen.ts';
import { geometry } from './picture.ts';
import './timeline.css';

const size = signal({ width: 0, height: 0 });

export function Overview() {
  const { host, canvas } = useCanvas(
    size,
    () => {
      history.value?.version.value;
      visible();
      size.value;
      geometry.value;
      allBlocked.value;
    },
    draw,
  );
  useEffect(() => {
    const target = canvas.current;
    return target ? listen(target) : undefined;
  }, []);
  return (
    <div class={`overview ${history.value?.hasPoints ? 'bare' : ''}`} ref={host} title={describe()}>
      <canvas ref={canvas} role="img" aria-label={describe()} />
    </div>
  );
}

/** The plotted series and its maximum; events of a log are never in flight. */
function series(past: History): { values: number[]; most: number } {
  const values = past.hasPoints ? [] : past.timeline.overview.flights;
  return { values, most: values.reduce((most, value) => Math.max(most, value), 1) };
}

function describe(): string {
  const past = history.value;
  if (!past) return 'Overview';
  const what = past.hasPoints
    ? ''
    : `: at most ${series(past).most.toLocaleString('en')} operations were in flight at once`;
  return `Overview of the whole history${what}`;
}

/** The left edge of the plot, aligned with the lanes. */
function leftEdge(): number {
  return geometry.value?.left ?? 74;
}

function visible(): [number, number] {
  const past = history.value;
  const { from, to } = viewport.value;
  if (!past || scale.value === 'order') return [from, to];
  return [past.rankOf(from), past.rankOf(to)];
}

function toX(past: History, rank: number): number {
  const left = leftEdge();
  const [first, last] = past.span('order');
  return left + ((rank - first) / (last - first)) * (size.value.width - left);
}

/** The frame in pixels, at least 8 wide. */
function frame(past: History): [number, number] {
  const [first, last] = past.span('order');
  const [from, to] = visible().map(rank => toX(past, Math.max(first, Math.min(last, rank)))) as [number, number];
  const lack = Math.max(0, 8 - (to - from)) / 2;
  const left = Math.max(leftEdge(), from - lack);
  const right = Math.min(size.value.width, to + lack);
  return [right - left < 8 ? Math.max(leftEdge(), right - 8) : left, right];
}

function draw(pen: Pen): void {
  const past = history.value;
  const { width, height } = size.value;
  const colors = readColors();
  pen.rect(0, 0, width, height, { fill: colors.panel });
  if (!past || past.timeline.ranks === 0 || width <= leftEdge()) return;
  const left = leftEdge();
  const { values, most } = series(past);
  const plot = width - left;
  const floor = height - 3;
  const room = height - 10;
  const columns = Math.max(1, Math.min(values.length, Math.floor(plot)));
  for (let i = 0; i < columns && values.length > 0; i += 1) {
    const first = Math.floor((i * values.length) / columns);
    const last = Math.max(first + 1, Math.floor(((i + 1) * values.length) / columns));
    let value = 0;
    for (let j = first; j < last; j += 1) value = Math.max(value, values[j]!);
    if (value === 0) continue;
    const tall = Math.max(1, (Math.log(value + 1) / Math.log(most + 1)) * room);
    const x = Math.floor(left + (i * plot) / columns);
    const end = Math.floor(left + ((i + 1) * plot) / columns);
    pen.rect(x, floor - tall, end - x, tall, { fill: colors.placed, alpha: 0.8 });
  }
  const [from, to] = frame(past);
  pen.rect(left, 0, Math.max(0, from - left), height, { fill: colors.panel, alpha: 0.45 });
  pen.rect(to, 0, Math.max(0, width - to), height, { fill: colors.panel, alpha: 0.45 });
  for (const stuck of allBlocked.value) {
    const chunk = past.chunkOf(stuck);
    if (!chunk) continue;
    const x = Math.min(width - 2, Math.max(left, toX(past, chunk.to[stuck - chunk.first]!)));
    pen.rect(x - 1, 0, 2, height, { fill: colors.blocked });
    pen.line([x - 6, 0, x + 6, 0, x, 8], { fill: colors.blocked });
  }
  pen.rect(from + 0.75, 1, to - from - 1.5, height - 2, {
    fill: 'transparent',
    stroke: colors.accent,
    width: 1.5,
    radius: 3,
  });
  pen.rect(0, 0, left, height, { fill: colors.panel });
  const words = past.hasPoints ? ['all'] : ['in flight', `≤ ${most.toLocaleString('en')}`];
  for (const [line, word] of words.entries()) {
    pen.text(4, height / 2 + (line - (words.length - 1) / 2) * 14, word, { fill: colors.muted, small: true });
  }
  pen.rect(left - 0.5, 0, 1, height, { fill: colors.border });
  pen.rect(0, height - 1, width, 1, { fill: colors.border });
}

/** Handles the pointer. Returns the function that stops it. */
function listen(target: HTMLCanvasElement): () => void {
  const { on, stop } = listener(target);
  let drag: { what: 'move' | 'left' | 'right'; rank: number; from: number; to: number } | null = null;

  const rankAt = (x: number) => {
    const left = leftEdge();
    const [first, last] = history.value?.span('order') ?? [0, 1];
    return first + ((x - left) / Math.max(1, size.value.width - left)) * (last - first);
  };
  const partAt = (x: number): 'move' | 'left' | 'right' | null => {
    const past = history.value;
    if (!past) return null;
    const [from, to] = frame(past);
    if (to - from > 24 && Math.abs(x - from) < 5) return 'left';
    if (to - from > 24 && Math.abs(x - to) < 5) return 'right';
    return x >= from - 3 && x <= to + 3 ? 'move' : null;
  };
  on('pointerdown', event => {
    if (event.button !== 0 || event.offsetX < leftEdge()) return;
    target.setPointerCapture(event.pointerId);
    const rank = rankAt(event.offsetX);
    let [from, to] = visible();
    const what = partAt(event.offsetX);
    if (what === null) {
      const half = (to - from) / 2;
      [from, to] = [rank - half, rank + half];
      showRange('order', from, to);
    }
    drag = { what: what ?? 'move', rank, from, to };
  });
  on('pointermove', event => {
    if (!drag) {
      const part = partAt(event.offsetX);
      target.style.cursor = part === 'move' ? 'grab' : part === null ? 'pointer' : 'ew-resize';
      return;
    }
    const by = rankAt(event.offsetX) - drag.rank;
    const { what, from, to } = drag;
    if (what === 'move') showRange('order', from + by, to + by);
    else if (what === 'left') showRange('order', Math.min(from + by, to - 1), to);
    else showRange('order', from, Math.max(to + by, from + 1));
  });
  on('pointerup', () => (drag = null));
  on('pointercancel', () => (drag = null));
  return stop;
}
