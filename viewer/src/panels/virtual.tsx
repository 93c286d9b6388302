// A long list of rows of equal height, of which only those in sight are in the page.
//
// The scroll box is as high as all rows would be, up to a limit that browsers can draw; beyond it a pixel of scrolling
// means more than a pixel of rows. The list is a grid for screen readers: it says how many rows there are, one row can
// be reached with Tab, and arrow keys move from there.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Browsers stop drawing boxes that are much higher than this. */
const HIGHEST = 12_000_000;
/** No window shows more rows at once; paper, which is as high as what is on it, would ask for ever more. */
const MOST = 52;

export interface RowsProps {
  label: string;
  count: number;
  height: number;
  columns: number;
  /** Names of the columns, drawn above. */
  header?: ComponentChildren;
  /** The row that has the focus; it is kept in sight when it changes. */
  active: number | null;
  /** Draws the cells of a row. */
  draw: (row: number) => ComponentChildren;
  rowClass?: (row: number) => string;
  onActive: (row: number) => void;
  /** Enter on a row, or a double click. */
  onOpen?: (row: number) => void;
  onMenu?: (row: number, x: number, y: number) => void;
  /** Called with the rows in sight, to load what they need. */
  onSight?: (first: number, last: number) => void;
}

export function Rows(props: RowsProps) {
  const { label, count, height, columns, header, active, draw, rowClass, onActive, onOpen, onMenu, onSight } = props;
  const box = useRef<HTMLDivElement>(null);
  /** The row that is to get the focus once it is there. */
  const wanted = useRef<number | null>(null);
  const [sight, setSight] = useState({ top: 0, height: 300 });
  const inSight = Math.min(sight.height / height, MOST);
  const full = count * height;
  const total = Math.min(full, HIGHEST);
  const scroll = Math.max(1, total - sight.height);
  const scaled = full > HIGHEST;
  const topRow = scaled ? (sight.top / scroll) * Math.max(0, count - inSight) : sight.top / height;
  const first = Math.max(0, Math.min(Math.floor(topRow) - 2, count - 1));
  const last = Math.min(count, Math.floor(topRow) + Math.ceil(inSight) + 3);
  const offset = scaled ? sight.top - (topRow - first) * height : first * height;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSight({ top: element.scrollTop, height: element.clientHeight || 300 });
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
    if (active < now) top = active;
    else if (active + 1 > now + rows) top = active + 1 - rows;
    if (top !== now) {
      if (Math.abs(top - now) > rows) top = Math.max(0, active - rows / 3);
      element.scrollTop = scaled ? (top / Math.max(1, count - rows)) * scroll : top * height;
      setSight({ top: element.scrollTop, height: element.clientHeight || 300 });
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

  useEffect(() => onSight?.(first, last - 1), [first, last, count]);

  const move = (to: number) => {
    const next = Math.max(0, Math.min(count - 1, to));
    wanted.current = next;
    onActive(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest('input, button')) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = wanted.current ?? active ?? first;
    const page = Math.max(1, Math.floor(inSight) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: count - 1 }[
      event.key
    ];
    if (to !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      move(to);
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
    <div class="grid" role="grid" aria-label={label} aria-rowcount={count + (header ? 1 : 0)} aria-colcount={columns}>
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
        onScroll={event =>
          setSight({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight || 300 })
        }
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
