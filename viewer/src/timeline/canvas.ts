// A canvas that fills its parent at the resolution of the screen, and is redrawn at most once per frame when a signal
// that it depends on changes.

import { effect, type Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../state.ts';
import { CanvasPen } from './pen.ts';

export interface Canvas {
  host: RefObject<HTMLDivElement | null>;
  canvas: RefObject<HTMLCanvasElement | null>;
}

/** `size` follows the size of the parent. `depend` reads the other signals that `paint` needs. */
export function useCanvas(
  size: Signal<{ width: number; height: number }>,
  depend: () => void,
  paint: (pen: CanvasPen) => void,
): Canvas {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const box = host.current;
    const target = canvas.current;
    const context = target?.getContext('2d', { alpha: false });
    if (!box || !target || !context) return;
    let frame = 0;
    const now = () => {
      frame = 0;
      const sharp = window.devicePixelRatio || 1;
      const width = Math.round(box.clientWidth * sharp);
      const height = Math.round(box.clientHeight * sharp);
      if (target.width !== width || target.height !== height) {
        target.width = width;
        target.height = height;
      }
      context.setTransform(sharp, 0, 0, sharp, 0, 0);
      paint(new CanvasPen(context));
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(now);
    };
    const measure = () => {
      // Hidden, as on paper.
      if (box.clientWidth === 0) return;
      const { clientWidth: width, clientHeight: height } = box;
      if (size.value.width !== width || size.value.height !== height) size.value = { width, height };
      soon();
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    measure();
    const dispose = effect(() => {
      theme.value;
      depend();
      soon();
    });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', soon);
    // Paper has colours of its own, and is laid out before the next frame.
    const print = matchMedia('print');
    const onPrint = () => box.clientWidth > 0 && now();
    print.addEventListener('change', onPrint);
    return () => {
      dispose();
      observer.disconnect();
      dark.removeEventListener('change', soon);
      print.removeEventListener('change', onPrint);
      cancelAnimationFrame(frame);
    };
  }, []);
  return { host, canvas };
}

/** Listens to the pointer: `on` adds a handler, `stop` removes all of them. */
export function listener(target: HTMLElement) {
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    handle: (event: HTMLElementEventMap[K]) => void,
    passive = true,
  ) => target.addEventListener(name, handle, { signal: stop.signal, passive });
  return { on, stop: () => stop.abort() };
}
