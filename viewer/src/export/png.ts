// The visible part of the timeline as PNG, at twice the CSS resolution.

import { drawLanes } from '../timeline/draw.ts';
import { CanvasPen } from '../timeline/pen.ts';
import { pictureNow } from '../timeline/picture.ts';

const SHARP = 2;

/** The visible part of the timeline; null if there is nothing to show. */
export function timelinePng(): Promise<Blob | null> {
  const picture = pictureNow();
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { alpha: false });
  if (!picture || !context) return Promise.resolve(null);
  canvas.width = picture.geometry.width * SHARP;
  canvas.height = picture.geometry.height * SHARP;
  context.setTransform(SHARP, 0, 0, SHARP, 0, 0);
  drawLanes(new CanvasPen(context), picture);
  return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
}
