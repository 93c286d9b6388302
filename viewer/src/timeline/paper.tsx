// The timeline on paper: a canvas of its own, because the one on the screen has another size and shows what the user
// chose. It is drawn when printing begins. A history that is legible as a whole is printed whole, else what is on the
// screen.

import { useEffect, useRef } from 'preact/hooks';
import { history, scale, viewport } from '../state.ts';
import { count } from '../text.ts';
import { drawLanes } from './draw.ts';
import { CanvasPen } from './pen.ts';
import { lanes, pictureNow } from './picture.ts';
import { onPrint } from './printing.ts';
import { heightFor, measure } from './scene.ts';

/** The width of the drawing, which is scaled to the width of the page. */
const WIDTH = 1040;
/** Pixels of the canvas per pixel of the drawing. */
const SHARP = 2;
/** A history of at most this many events is printed whole. */
const MOST = 240;

export function Paper() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => onPrint(() => paint(canvas.current)), []);
  const past = history.value;
  if (!past) return null;
  const { from, to } = rangeOf();
  const isWhole = to - from >= past.span(scale.value)[1];
  return (
    <figure class="paper" aria-hidden="true">
      <canvas ref={canvas} width={WIDTH * SHARP} />
      {!isWhole && (
        <figcaption>
          {scale.value === 'order' ? 'Events' : 'Times'} {count(Math.max(0, Math.round(from)))} to{' '}
          {count(Math.round(to))} of {count(Math.round(past.span(scale.value)[1]))}
        </figcaption>
      )}
    </figure>
  );
}

function rangeOf(): { from: number; to: number } {
  const past = history.value;
  if (!past || past.timeline.ranks > MOST) return viewport.value;
  const [from, to] = past.span(scale.value);
  return { from, to };
}

function paint(target: HTMLCanvasElement | null): void {
  const past = history.value;
  const picture = pictureNow();
  const context = target?.getContext('2d', { alpha: false });
  if (!past || !picture || !lanes.value || !target || !context) return;
  const height = heightFor(past, lanes.value);
  target.width = WIDTH * SHARP;
  target.height = height * SHARP;
  context.setTransform(SHARP, 0, 0, SHARP, 0, 0);
  const size = { width: WIDTH, height, scroll: 0 };
  const geometry = measure(past, lanes.value, size, rangeOf(), scale.value);
  drawLanes(new CanvasPen(context), { ...picture, geometry, selection: null, step: null });
}
