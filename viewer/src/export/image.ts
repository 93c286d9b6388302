// Saves the visible part of the timeline as an image.

import { history, report, viewport } from '../state.ts';
import { timelinePng } from './png.ts';
import { timelineSvg } from './svg.ts';

/** Downloads the image; returns false if there is nothing to show. */
export async function saveImage(kind: 'svg' | 'png'): Promise<boolean> {
  const blob = kind === 'svg' ? svgBlob() : await timelinePng();
  if (!blob) return false;
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = `${fileName()}.${kind}`;
  link.click();
  // By then the browser has read the blob.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  return true;
}

function svgBlob(): Blob | null {
  const svg = timelineSvg();
  return svg === null ? null : new Blob([svg], { type: 'image/svg+xml' });
}

/** The name of the history and the visible range. */
function fileName(): string {
  const name = (report.value?.history.name ?? 'history')
    .split(/[\\/]/)
    .at(-1)!
    .replace(/[^\w.-]+/g, '-');
  const { from, to } = viewport.value;
  return history.value ? `${name}-${Math.max(0, Math.round(from))}-${Math.round(to)}` : name;
}
