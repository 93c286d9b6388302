// How long operations took, over time, beside the number in flight and the faults. The whole history is shown; a frame
// marks what the timeline shows. A click on a dot selects its operation, any other click moves the timeline there. The
// table has the figures, and a button for the longest operation of each action.

import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { duration } from '../data/clock.ts';
import { type History, pause } from '../data/history.ts';
import { Latency } from '../data/latency.ts';
import { allBlocked, history, scale, selection, showOperation, showRange, viewport } from '../state.ts';
import { brief, count, many, visible } from '../text.ts';
import { useCanvas } from '../timeline/canvas.ts';
import { readColors } from '../timeline/colors.ts';
import { drawLatency, frameOf, placeOf, timeAt, xOf, yOf } from '../timeline/latency.ts';
import { Button, Table } from './parts.tsx';

/** The gathered durations of each history. */
const known = new WeakMap<History, Latency>();
/** Changes when more was gathered. */
const version = signal(0);
const hidden = signal<ReadonlySet<string>>(new Set());
const size = signal({ width: 0, height: 0 });

function latencyOf(past: History): Latency {
  const found = known.get(past) ?? new Latency(past);
  known.set(past, found);
  return found;
}

/** What was gathered about the current history; redraws the calling component when there is more. */
function current(): Latency | null {
  return version.value >= 0 && history.value ? latencyOf(history.value) : null;
}

/** Adds chunks that are not counted yet, one in a task. From a server, only those that are loaded anyway. */
async function gather(past: History, isStopped: () => boolean): Promise<void> {
  const found = latencyOf(past);
  const { chunks } = past.timeline;
  const isNext = (k: number) => !found.has(k) && (!past.served || past.peek(k) !== null);
  for (let k = chunks.findIndex((_, k) => isNext(k)); k >= 0; k = chunks.findIndex((_, k) => isNext(k))) {
    await past.ensure(chunks[k]!.first, chunks[k]!.first);
    const chunk = past.peek(k);
    if (isStopped() || !chunk) return;
    found.add(k, chunk);
    version.value += 1;
    await pause();
  }
}

function follow(): () => void {
  let isStopped = false;
  let isBusy = false;
  const stop = effect(() => {
    const past = history.value;
    if (!past || (past.served && past.version.value < 0) || isBusy) return;
    isBusy = true;
    void gather(past, () => isStopped).then(() => {
      isBusy = false;
    });
  });
  return () => {
    isStopped = true;
    stop();
  };
}

export function LatencyTab() {
  useEffect(follow, []);
  const past = history.value;
  const found = current();
  if (!past || !found) return null;
  return (
    <div class="padded latency">
      <Plot past={past} />
      <p class="quiet" role="status">
        {found.added < past.size && `${count(found.added)} of ${many(past.size, 'operation')} loaded`}
      </p>
      <Figures past={past} />
    </div>
  );
}

function shownKinds({ kinds }: Latency): number[] {
  return kinds.map((_, kind) => kind).filter(kind => !hidden.value.has(kinds[kind]!));
}

function Plot({ past }: { past: History }) {
  const { host, canvas } = useCanvas(
    size,
    () => {
      current();
      hidden.value;
      size.value;
      allBlocked.value;
    },
    pen => {
      const now = history.value;
      const found = current();
      if (!now || !found) return;
      const failing = allBlocked.value.map(at => ({
        at,
        label: `✗ ${visible(now.name(at) ?? '')}`,
      }));
      drawLatency(pen, {
        history: now,
        latency: found,
        colors: readColors(),
        kinds: shownKinds(found),
        failing,
        ...size.value,
      });
    },
  );
  const onClick = (event: MouseEvent) => click(past, event.offsetX, event.offsetY);
  return (
    <div class="plot" ref={host}>
      <canvas ref={canvas} role="img" aria-label={describe(past)} onClick={onClick} />
      <Marks past={past} />
    </div>
  );
}

/** The frame of the timeline, and the selected operation. They move often, so they are not part of the drawing. */
function Marks({ past }: { past: History }) {
  const found = current();
  if (!found || size.value.width === 0) return null;
  const frame = frameOf({ history: past, latency: found, ...size.value });
  const times = [viewport.value.from, viewport.value.to].map(at => (scale.value === 'time' ? at : past.timeOf(at)));
  const [from, to] = times.map(time => Math.min(frame.right, Math.max(frame.left, xOf(frame, past, time)))) as [
    number,
    number,
  ];
  const op = selection.value === null ? null : past.op(selection.value);
  return (
    <>
      <div class="seen" style={{ left: `${from}px`, width: `${Math.max(2, to - from)}px` }} />
      {op && (
        <div
          class="chosen"
          style={{
            left: `${xOf(frame, past, op.start)}px`,
            top: `${yOf(frame, op.end === null ? null : op.end - op.start)}px`,
          }}
        />
      )}
    </>
  );
}

/** Distance at which a click hits a dot, in pixels. */
const NEAR = 9;

function click(past: History, x: number, y: number): void {
  const found = current();
  if (!found) return;
  const frame = frameOf({ history: past, latency: found, ...size.value });
  const kinds = shownKinds(found);
  let best: { at: number; far: number } | null = null;
  for (const dot of found.dots) {
    if (!kinds.includes(dot.kind)) continue;
    const [left, top] = placeOf(frame, past, dot);
    const far = Math.hypot(left - x, top - y);
    if (far < (best?.far ?? NEAR)) best = { at: dot.at, far };
  }
  if (best) {
    void showOperation(best.at);
    return;
  }
  const middle = timeAt(frame, past, x);
  const half = past.span('time')[1] / 60;
  if (x >= frame.left && x <= frame.right) showRange('time', middle - half, middle + half);
}

function describe(past: History): string {
  const found = current();
  const faults =
    past.events.length > 0 ? `, ${many(past.events.length, 'fault or annotation', 'faults and annotations')}` : '';
  const kind = found?.isFew ? 'each operation' : 'the median, 99th percentile and maximum';
  return `Durations over time: ${kind}, ${many(found?.added ?? 0, 'operation')}${faults}; the table below has the figures`;
}

function Figures({ past }: { past: History }) {
  const found = current();
  if (!found) return null;
  const columns = ['action', 'operations', 'median', '99 %', 'longest', 'not returned'];
  return (
    <Table name="Durations by action" kind="cover" columns={columns}>
      {found.kinds.map((name, kind) => {
        const figures = found.figures(kind);
        const { longest } = figures;
        return (
          <tr>
            <th scope="row">
              <label class="kind">
                <input
                  type="checkbox"
                  checked={!hidden.value.has(name)}
                  onChange={() => {
                    const next = new Set(hidden.value);
                    if (!next.delete(name)) next.add(name);
                    hidden.value = next;
                  }}
                />
                {found.isFew && <Shape kind={kind} />} {brief(name, 60)}
              </label>
            </th>
            <td class="number">{count(figures.count)}</td>
            <td class="number">{longest && duration(figures.median, past.clock)}</td>
            <td class="number">{longest && duration(figures.high, past.clock)}</td>
            <td class="number">
              {longest && (
                <Button class="op" onClick={() => void showOperation(longest.at)}>
                  {duration(longest.duration, past.clock)}
                </Button>
              )}
            </td>
            <td class="number">{figures.open > 0 ? count(figures.open) : ''}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The shapes of dots, as in the plot. */
const SHAPES = [
  <circle cx="6" cy="6" r="4" />,
  <rect x="2.4" y="2.4" width="7.2" height="7.2" />,
  <path d="M6 1.5 10.4 9.5H1.6Z" />,
  <path d="M6 1 11 6 6 11 1 6Z" />,
  <path class="stroke" d="M2 2 10 10M2 10 10 2" />,
  <path class="stroke" d="M1.5 6H10.5M6 1.5V10.5" />,
];

function Shape({ kind }: { kind: number }) {
  return (
    <svg class="shape" style={{ '--kind': `var(--kind${kind + 1})` }} viewBox="0 0 12 12" aria-hidden="true">
      {SHAPES[kind]}
    </svg>
  );
}
