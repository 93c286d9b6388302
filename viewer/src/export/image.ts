// Downloads: the visible part of the timeline as an image, and texts.

import { history, report, viewport } from '../state.ts';
import { base } from '../text.ts';
import { timelinePng } from './png.ts';
import { timelineSvg } from './svg.ts';

/** Downloads the image; returns false if there is nothing to show. */
export async function saveImage(kind: 'svg' | 'png'): Promise<boolean> {
  const blob = kind === 'svg' ? svgBlob() : await timelinePng();
  if (!blob) return false;
  const { from, to } = viewport.value;
  const range = history.value ? `-${Math.max(0, Math.round(from))}-${Math.round(to)}` : '';
  save(blob, `${fileName()}${range}.${kind}`);
  return true;
}

/** Downloads a text as a file that is called like the history, with `what` behind it. */
export function saveText(text: string, what: string, extension: string): void {
  save(new Blob([text], { type: 'text/plain' }), `${fileName()}-${what}.${extension}`);
}

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // By then the browser has read the blob.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function svgBlob(): Blob | null {
  const svg = timelineSvg();
  return svg === null ? null : new Blob([svg], { type: 'image/svg+xml' });
}

function fileName(): string {
  return base(report.value?.history.name ?? 'history').replace(/[^\w.-]+/g, '-');
}
