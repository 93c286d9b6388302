// Where the picture of a cycle has its nodes and arrows.

export type Point = [x: number, y: number];

/** Points on an ellipse, clockwise; the first is at the left of two, and at the top of more. */
export function ring(count: number, width: number, height: number, margin: number): Point[] {
  const turn = count === 2 ? Math.PI : -Math.PI / 2;
  return Array.from({ length: count }, (_, at) => {
    const angle = turn + (2 * Math.PI * at) / count;
    return [width / 2 + (width / 2 - margin) * Math.cos(angle), height / 2 + (height / 2 - margin) * Math.sin(angle)];
  });
}

/** An arrow between two points that stays `gap` away from both, and the middle of it. It bends to its left if another
 * arrow goes back. */
export function arc(from: Point, to: Point, gap: number, bends: boolean): { path: string; middle: Point } {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const bend = bends ? length * 0.22 : 0;
  const control: Point = [
    (from[0] + to[0]) / 2 + (dy / length) * bend * 2,
    (from[1] + to[1]) / 2 - (dx / length) * bend * 2,
  ];
  const near = (point: Point): Point => {
    const far = Math.hypot(control[0] - point[0], control[1] - point[1]) || 1;
    return [point[0] + ((control[0] - point[0]) * gap) / far, point[1] + ((control[1] - point[1]) * gap) / far];
  };
  const [a, b] = [near(from), near(to)];
  const text = ([x, y]: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return {
    path: `M${text(a)} Q${text(control)} ${text(b)}`,
    middle: [(a[0] + b[0]) / 4 + control[0] / 2, (a[1] + b[1]) / 4 + control[1] / 2],
  };
}
