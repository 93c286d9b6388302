// Small pieces that many panels use: an operation as a button, a place in a source as a button, copying, a command.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { OpRef, Report, Span } from '../data/types.ts';
import { brief, lineOf } from '../text.ts';
import { copy, openMenu, showOp, showSpec } from './local.ts';

/** An operation that the report speaks of; pressing it selects the operation in the timeline. */
export function Op({ report, op, label }: { report: Report; op: OpRef; label?: string }) {
  const operation = report.operations[op];
  if (!operation) return <span class="op">an operation</span>;
  return (
    <button
      type="button"
      class="op"
      title={`${brief(operation.name, 80)}: show in the timeline`}
      onClick={() => showOp(op)}
      onContextMenu={event => {
        event.preventDefault();
        openMenu({ x: event.clientX, y: event.clientY, name: operation.name });
      }}
    >
      {brief(label ?? `${operation.name} ${operation.text}`, 90)}
    </button>
  );
}

/** `Queue.tla:10`, which opens the source there. */
export function Place({ report, span }: { report: Report; span: Span }) {
  const source = report.sources[span.source];
  if (!source) return null;
  const { line, column } = lineOf(source.text, span.start);
  const name = source.path.split('/').pop() ?? source.path;
  return (
    <button
      type="button"
      class="link"
      title={`${brief(source.path, 300)}:${line}:${column}`}
      onClick={() => showSpec(span)}
    >
      {brief(name, 60)}:{line}
    </button>
  );
}

/** A button that puts a text on the clipboard and says so. */
export function Copy({ text, what, label = 'Copy' }: { text: string; what: string; label?: string }) {
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      class="small"
      aria-label={label === 'Copy' && !done ? `Copy ${what}` : undefined}
      onClick={async () => {
        setDone(await copy(text, what));
        setTimeout(() => setDone(false), 1500);
      }}
    >
      {done ? 'Copied' : label}
    </button>
  );
}

/** A command line with its button. */
export function Command({ what, line }: { what: string; line: string }) {
  return (
    <li class="command">
      <span class="what">{brief(what, 200)}</span>
      <code>{brief(line, 500)}</code>
      <Copy text={line} what="the command" />
    </li>
  );
}

/** A section of the right side. */
export function Section({ title, id, children }: { title: string; id: string; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** The first few of many, and a button for the rest. */
export function Few<T>({
  items,
  most,
  draw,
}: {
  items: T[];
  most: number;
  draw: (item: T, at: number) => ComponentChildren;
}) {
  const [shown, setShown] = useState(most);
  return (
    <>
      {items.slice(0, shown).map(draw)}
      {items.length > shown && (
        <li class="rest">
          <button type="button" class="more" onClick={() => setShown(shown + 100)}>
            {items.length - shown} more
          </button>
        </li>
      )}
    </>
  );
}
