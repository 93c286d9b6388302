// A virtual list: rows of equal height, of which only the visible ones are in the DOM.
//
// The scroll box has the height of all rows, up to a limit that browsers can draw; beyond it, a pixel of scrolling
// means more than a pixel of rows. For screen readers the list is a grid with a row count; Tab reaches one row, and
// arrow keys move from there.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Maximum height of the scroll box; browsers fail to draw much higher ones. */
const HIGHEST = 12_000_000;
/** Maximum number of visible rows. Without it, print layout would grow without bound. */
const MOST = 52;

export interface RowsProps {
  label: string;
  count: number;
  height: number;
  columns: number;
  header?: ComponentChildren;
  /** The active row; scrolled into view when it changes. */
  active: number | null;
  /** True if the active row is kept off the edges: it is scrolled to the middle. */
  isCentred?: boolean;
  kind?: string;
  draw: (row: number) => ComponentChildren;
  rowClass?: (row: number) => string;
  /** True for a row that cannot be active: keys pass over it. */
  isPassed?: (row: number) => boolean;
  onActive: (row: number) => void;
  /** Enter on a row, or a double click. */
  onOpen?: (row: number) => void;
  onMenu?: (row: number, x: number, y: number) => void;
  /** Called with the range of visible rows, to load their data. */
  onVisible?: (first: number, last: number) => void;
}

function viewOf({ scrollTop, clientHeight }: HTMLElement): { top: number; height: number } {
  return { top: scrollTop, height: clientHeight || 300 };
}

export function Rows(props: RowsProps) {
  const { label, count, height, columns, header, active, draw, rowClass, onActive, onOpen, onMenu, onVisible } = props;
  const isPassed = props.isPassed ?? (() => false);
  const box = useRef<HTMLDivElement>(null);
  /** The row to focus once it is drawn. */
  const wanted = useRef<number | null>(null);
  const [view, setView] = useState({ top: 0, height: 300 });
  const rowsInView = Math.min(view.height / height, MOST);
  const full = count * height;
  const total = Math.min(full, HIGHEST);
  const scroll = Math.max(1, total - view.height);
  const scaled = full > HIGHEST;
  const topRow = scaled ? (view.top / scroll) * Math.max(0, count - rowsInView) : view.top / height;
  const first = Math.max(0, Math.min(Math.floor(topRow) - 2, count - 1));
  const last = Math.min(count, Math.floor(topRow) + Math.ceil(rowsInView) + 3);
  const offset = scaled ? view.top - (topRow - first) * height : first * height;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setView(viewOf(element));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current;
    if (!element || active === null || active < 0) return;
    const rows = element.clientHeight / height;
    const now = scaled ? (element.scrollTop / scroll) * Math.max(0, count - rows) : element.scrollTop / height;
    let top = now;
    const margin = props.isCentred ? rows / 4 : 0;
    if (active - margin < now) top = active;
    else if (active + 1 + margin > now + rows) top = active + 1 - rows;
    if (top !== now) {
      if (props.isCentred) top = Math.max(0, active - rows / 2);
      else if (Math.abs(top - now) > rows) top = Math.max(0, active - rows / 3);
      element.scrollTop = scaled ? (top / Math.max(1, count - rows)) * scroll : top * height;
      setView(viewOf(element));
    }
  }, [active, count, scaled]);

  useEffect(() => {
    if (wanted.current === null || wanted.current !== active) return;
    const index = active + (header ? 2 : 1);
    const row = box.current?.querySelector<HTMLElement>(`[aria-rowindex="${index}"]`);
    if (!row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  });

  useEffect(() => onVisible?.(first, last - 1), [first, last, count]);

  const move = (to: number) => {
    const next = Math.max(0, Math.min(count - 1, to));
    wanted.current = isPassed(next) ? null : next;
    onActive(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest('input, button')) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = wanted.current ?? active ?? first;
    const page = Math.max(1, Math.floor(rowsInView) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: count - 1 }[
      event.key
    ];
    if (to !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      let next = Math.max(0, Math.min(count - 1, to));
      const by = to > at ? 1 : -1;
      while (isPassed(next) && next > 0 && next < count - 1) next += by;
      // At either end, the last row that can be active.
      while (isPassed(next) && next !== at) next -= by;
      move(next);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      (onOpen ?? onActive)(at);
    } else if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && onMenu) {
      event.preventDefault();
      const place = (event.target as HTMLElement).getBoundingClientRect();
      onMenu(at, place.left + 40, place.bottom);
    }
  };
  const shown: number[] = [];
  for (let row = first; row < last; row += 1) shown.push(row);
  const reachable = active !== null && active >= first && active < last ? active : null;
  return (
    <div
      class={`grid ${props.kind ?? ''}`}
      role="grid"
      aria-label={label}
      aria-rowcount={count + (header ? 1 : 0)}
      aria-colcount={columns}
    >
      {header && (
        <div class="gridhead" role="rowgroup">
          <div class="row head" role="row" aria-rowindex={1}>
            {header}
          </div>
        </div>
      )}
      <div
        class="rows"
        ref={box}
        role="rowgroup"
        tabIndex={reachable === null ? 0 : -1}
        onKeyDown={onKeyDown}
        onScroll={event => setView(viewOf(event.currentTarget))}
      >
        <div class="spacer" role="presentation" style={{ height: `${total}px` }}>
          <div class="shown" role="presentation" style={{ transform: `translateY(${offset}px)` }}>
            {shown.map(row => (
              <div
                key={row}
                class={`row ${row === active ? 'active' : ''} ${rowClass?.(row) ?? ''}`}
                role="row"
                aria-rowindex={row + (header ? 2 : 1)}
                aria-selected={row === active}
                tabIndex={row === reachable ? 0 : -1}
                style={{ height: `${height}px` }}
                onClick={() => move(row)}
                onDblClick={() => onOpen?.(row)}
                onContextMenu={event => {
                  if (!onMenu) return;
                  event.preventDefault();
                  onMenu(row, event.clientX, event.clientY);
                }}
              >
                {draw(row)}
              </div>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}
