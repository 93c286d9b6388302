// The lanes of processes.

export interface TimelineProps {
  /** Somebody asked for a menu at an operation; `x` and `y` are those of the window. */
  onContext?: (at: number, x: number, y: number) => void;
}

export function Timeline(_: TimelineProps) {
  return <canvas class="timeline" />;
}
