// A drawing interface: the same calls paint a canvas or write SVG (`export/svg.ts`).
// The font is monospaced, so that a text can be cut to fit before it is drawn.

export interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  radius?: number;
  alpha?: number;
}

export interface Ink {
  fill: string;
  bold?: boolean;
  small?: boolean;
  align?: 'left' | 'center' | 'right';
  alpha?: number;
}

export interface Pen {
  rect(x: number, y: number, width: number, height: number, style: Style): void;
  /** Points as x, y, x, y, … */
  line(points: ArrayLike<number>, style: Style): void;
  /** `y` is the middle of the line. */
  text(x: number, y: number, text: string, ink: Ink): void;
  /** Clips everything that `draw` draws. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const SIZE = 12;
export const SMALL = 12;

export class CanvasPen implements Pen {
  private readonly context: CanvasRenderingContext2D;

  constructor(context: CanvasRenderingContext2D) {
    this.context = context;
    context.textBaseline = 'middle';
  }

  rect(x: number, y: number, width: number, height: number, style: Style): void {
    const context = this.context;
    context.globalAlpha = style.alpha ?? 1;
    if (style.radius === undefined && style.stroke === undefined) {
      context.fillStyle = style.fill!;
      context.fillRect(x, y, width, height);
      return;
    }
    context.beginPath();
    context.roundRect(x, y, width, height, Math.max(0, Math.min(style.radius ?? 0, width / 2)));
    if (style.fill !== undefined) {
      context.fillStyle = style.fill;
      context.fill();
    }
    if (style.stroke !== undefined) this.stroke(style);
  }

  line(points: ArrayLike<number>, style: Style): void {
    const context = this.context;
    context.globalAlpha = style.alpha ?? 1;
    context.beginPath();
    context.moveTo(points[0]!, points[1]!);
    for (let i = 2; i < points.length; i += 2) context.lineTo(points[i]!, points[i + 1]!);
    if (style.fill !== undefined) {
      context.fillStyle = style.fill;
      context.fill();
    }
    if (style.stroke !== undefined) this.stroke(style);
  }

  text(x: number, y: number, text: string, ink: Ink): void {
    const context = this.context;
    context.globalAlpha = ink.alpha ?? 1;
    context.font = fontOf(ink);
    context.textAlign = ink.align ?? 'left';
    context.fillStyle = ink.fill;
    context.fillText(text, x, y + 0.5);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const context = this.context;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    draw();
    context.restore();
  }

  private stroke(style: Style): void {
    const context = this.context;
    context.strokeStyle = style.stroke!;
    context.lineWidth = style.width ?? 1;
    context.lineJoin = 'round';
    if (style.dash) context.setLineDash(style.dash);
    context.stroke();
    if (style.dash) context.setLineDash([]);
  }
}

function fontOf(ink: Ink): string {
  return `${ink.bold ? '600 ' : ''}${ink.small ? SMALL : SIZE}px ${FONT}`;
}

let letter: number | null = null;

export function letterWidth(): number {
  if (letter === null) {
    const context = typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d');
    if (!context) return SIZE * 0.6;
    context.font = fontOf({ fill: '' });
    letter = context.measureText('0'.repeat(50)).width / 50;
  }
  return letter;
}

/** Cuts a text to a width; empty if fewer than three letters fit. */
export function cut(text: string, width: number): string {
  const fits = Math.floor(width / letterWidth());
  if (text.length <= fits) return text;
  if (fits < 3) return '';
  return `${text.slice(0, fits - 1)}…`;
}
