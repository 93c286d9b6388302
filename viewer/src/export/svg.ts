// The visible part of the timeline as SVG, drawn by the same code as the canvas.

import { drawLanes } from '../timeline/draw.ts';
import { FONT, type Ink, type Pen, SIZE, SMALL, type Style } from '../timeline/pen.ts';
import { pictureNow } from '../timeline/picture.ts';

/** The visible part of the timeline; null if there is nothing to show. */
export function timelineSvg(): string | null {
  const picture = pictureNow();
  if (!picture) return null;
  const { width, height } = picture.geometry;
  const pen = new SvgPen(width, height);
  drawLanes(pen, picture);
  return pen.done();
}

/** A pen that writes SVG. */
export class SvgPen implements Pen {
  private readonly out: string[] = [];
  private readonly width: number;
  private readonly height: number;
  private clips = 0;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }

  rect(x: number, y: number, width: number, height: number, style: Style): void {
    const radius = style.radius ? ` rx="${rounded(Math.min(style.radius, width / 2))}"` : '';
    const place = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(Math.max(0, width))}" height="${rounded(Math.max(0, height))}"`;
    this.out.push(`<rect ${place}${radius}${styleAttributes(style)}/>`);
  }

  line(points: ArrayLike<number>, style: Style): void {
    const pairs: string[] = [];
    for (let i = 0; i + 1 < points.length; i += 2) pairs.push(`${rounded(points[i]!)},${rounded(points[i + 1]!)}`);
    this.out.push(`<polyline points="${pairs.join(' ')}" stroke-linejoin="round"${styleAttributes(style)}/>`);
  }

  text(x: number, y: number, text: string, ink: Ink): void {
    const anchor = { left: '', center: ' text-anchor="middle"', right: ' text-anchor="end"' }[ink.align ?? 'left'];
    const size = ink.small ? SMALL : SIZE;
    const weight = ink.bold ? ' font-weight="600"' : '';
    const alpha = ink.alpha === undefined || ink.alpha === 1 ? '' : ` opacity="${rounded(ink.alpha)}"`;
    const place = `x="${rounded(x)}" y="${rounded(y + size * 0.36)}" font-size="${size}"`;
    this.out.push(
      `<text ${place}${weight}${anchor}${alpha} fill="${escaped(ink.fill)}" xml:space="preserve">${escaped(text)}</text>`,
    );
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.clips += 1;
    const id = `c${this.clips}`;
    this.out.push(
      `<clipPath id="${id}"><rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"/></clipPath>`,
      `<g clip-path="url(#${id})">`,
    );
    draw();
    this.out.push('</g>');
  }

  done(): string {
    const { width, height } = this;
    const open = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}">`;
    return [open, ...this.out, '</svg>', ''].join('\n');
  }
}

function styleAttributes({ fill, stroke, width, dash, alpha }: Style): string {
  let text = ` fill="${escaped(fill ?? 'none')}"`;
  if (stroke !== undefined) text += ` stroke="${escaped(stroke)}" stroke-width="${rounded(width ?? 1)}"`;
  if (dash) text += ` stroke-dasharray="${dash.join(' ')}"`;
  if (alpha !== undefined && alpha !== 1) text += ` opacity="${rounded(alpha)}"`;
  return text;
}

function rounded(number: number): string {
  return String(Math.round(number * 100) / 100);
}

/** Escapes text for XML, and replaces characters that XML does not allow. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow these
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
      .replace(/"/g, '&quot;')
  );
}
