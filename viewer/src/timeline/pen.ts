// What pictures are drawn with: the same calls paint a canvas or write SVG (`export/svg.ts`).
// All letters have the same width, so that a text can be cut to fit before it is drawn.

export interface Look {
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
  rect(x: number, y: number, width: number, height: number, look: Look): void;
  /** Points as x, y, x, y, … */
  line(points: ArrayLike<number>, look: Look): void;
  /** `y` is the middle of the line. */
  text(x: number, y: number, text: string, ink: Ink): void;
  /** What `draw` draws stays inside. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const SIZE = 11.5;
export const SMALL = 10;

/** Paints a canvas. */
export class CanvasPen implements Pen {
  private readonly context: CanvasRenderingContext2D;

  constructor(context: CanvasRenderingContext2D) {
    this.context = context;
    context.textBaseline = 'middle';
  }

  rect(x: number, y: number, width: number, height: number, look: Look): void {
    const context = this.context;
    context.globalAlpha = look.alpha ?? 1;
    if (look.radius === undefined && look.stroke === undefined) {
      context.fillStyle = look.fill!;
      context.fillRect(x, y, width, height);
      return;
    }
    context.beginPath();
    context.roundRect(x, y, width, height, Math.max(0, Math.min(look.radius ?? 0, width / 2)));
    if (look.fill !== undefined) {
      context.fillStyle = look.fill;
      context.fill();
    }
    if (look.stroke !== undefined) this.stroke(look);
  }

  line(points: ArrayLike<number>, look: Look): void {
    const context = this.context;
    context.globalAlpha = look.alpha ?? 1;
    context.beginPath();
    context.moveTo(points[0]!, points[1]!);
    for (let i = 2; i < points.length; i += 2) context.lineTo(points[i]!, points[i + 1]!);
    if (look.fill !== undefined) {
      context.fillStyle = look.fill;
      context.fill();
    }
    if (look.stroke !== undefined) this.stroke(look);
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

  private stroke(look: Look): void {
    const context = this.context;
    context.strokeStyle = look.stroke!;
    context.lineWidth = look.width ?? 1;
    context.lineJoin = 'round';
    if (look.dash) context.setLineDash(look.dash);
    context.stroke();
    if (look.dash) context.setLineDash([]);
  }
}

function fontOf(ink: Ink): string {
  return `${ink.bold ? '600 ' : ''}${ink.small ? SMALL : SIZE}px ${FONT}`;
}

let letter: number | null = null;

/** How wide a letter is. */
export function letterWidth(): number {
  if (letter === null) {
    const context = typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d');
    if (!context) return SIZE * 0.6;
    context.font = fontOf({ fill: '' });
    letter = context.measureText('0'.repeat(50)).width / 50;
  }
  return letter;
}

/** A text cut to a width; empty if not even three letters fit. */
export function cut(text: string, width: number): string {
  const fits = Math.floor(width / letterWidth());
  if (text.length <= fits) return text;
  if (fits < 3) return '';
  return `${text.slice(0, fits - 1)}…`;
}
