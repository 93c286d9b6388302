// Small shared components: operation button, source location button, copy button, command line.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OpRef, Report, Span } from '../data/types.ts';
import { showOperation } from '../state.ts';
import { base, brief, count, lineOf } from '../text.ts';
import { copy, liveHistory, menuOf, showOp, showSpec } from './local.ts';

/** A button that submits no form. */
export function Button(props: JSX.IntrinsicElements['button']) {
  return <button type="button" {...props} />;
}

/** A button for an operation; selects it in the timeline. */
export function OpButton({ name, label, width = 90, act }: OpButtonProps) {
  return (
    <Button
      class="op"
      title={`${brief(name, 80)}: show in the timeline`}
      onClick={act}
      onContextMenu={menuOf({ name })}
    >
      {brief(label, width)}
    </Button>
  );
}

interface OpButtonProps {
  name: string;
  label: string;
  width?: number;
  act: () => void;
}

/** A button for an operation of the report. */
export function Op({ report, op, label }: { report: Report; op: OpRef; label?: string }) {
  const operation = report.operations[op];
  if (!operation) return <span class="op">an operation</span>;
  const { name, text } = operation;
  return <OpButton name={name} label={label ?? `${name} ${text}`} act={() => showOp(op)} />;
}

/** A button for an operation of the history. */
export function Placed({ at }: { at: number }) {
  const op = liveHistory()?.op(at);
  if (!op) return <span class="op">loading…</span>;
  return <OpButton name={op.name} label={`${op.name} ${op.text}`} act={() => void showOperation(at)} />;
}

/** A button such as `Queue.tla:10`, or `10`; opens the source at that line. */
export function Place({ report, span, kind = 'link' }: { report: Report; span: Span; kind?: '' | 'link' | 'number' }) {
  const source = report.sources[span.source];
  if (!source) return null;
  const { line, column } = lineOf(source.text, span.start);
  return (
    <Button
      class={kind}
      title={`${brief(source.path, 300)}:${line}:${column}: show in the specification`}
      onClick={() => showSpec(span)}
    >
      {kind === 'number' ? <span class="offscreen">line </span> : `${brief(base(source.path), 60)}:`}
      {line}
    </Button>
  );
}

export function Copy({ text, what, label = 'Copy' }: { text: string; what: string; label?: string }) {
  const [done, setDone] = useState(false);
  return (
    <Button
      class="small"
      aria-label={label === 'Copy' && !done ? `Copy ${what}` : undefined}
      onClick={async () => {
        setDone(await copy(text, what));
        setTimeout(() => setDone(false), 1500);
      }}
    >
      {done ? 'Copied' : label}
    </Button>
  );
}

export function Command({ what, line }: { what: string; line: string }) {
  return (
    <li class="command">
      <span class="what">{brief(what, 200)}</span>
      <code>
        <Path text={line} width={500} />
      </code>
      <Copy text={line} what="command" />
    </li>
  );
}

export function Section({ title, id, note, children }: SectionProps) {
  return (
    <section aria-labelledby={id}>
      <h2>
        <span id={id}>{title}</span>
        {note && <span class="note"> · {note}</span>}
      </h2>
      {children}
    </section>
  );
}

interface SectionProps {
  title: string;
  id: string;
  note?: ComponentChildren;
  children: ComponentChildren;
}

/** A table that scrolls by itself. */
export function Table({ name, kind, columns, children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={name}>
      <table class={kind}>
        <Head columns={columns} />
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface TableProps {
  name: string;
  kind: string;
  columns: ComponentChildren[];
  children: ComponentChildren;
}

export function Head({ columns }: { columns: ComponentChildren[] }) {
  return (
    <thead>
      <tr>
        {columns.map(column => (
          <th scope="col">{column}</th>
        ))}
      </tr>
    </thead>
  );
}

export function Unseen({ children }: { children: ComponentChildren }) {
  return <span class="offscreen">{children}</span>;
}

/** A label and its value, in a list of class `facts`. */
export function Fact({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A sentence of the report: what is in backticks is code. An odd backtick stays one. */
export function Sentence({ text, width }: { text: string; width: number }) {
  const pieces = brief(text, width).split('`');
  return (
    <>
      {pieces.map((piece, at) => {
        if (at % 2 === 0) return piece;
        return at === pieces.length - 1 ? `\`${piece}` : <code>{piece}</code>;
      })}
    </>
  );
}

/** A sentence with a capital at its beginning. Names of operations keep their case. */
export function capital(text: string): string {
  return /^[a-z]+\s/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** A path or a command that breaks after slashes, not within names. */
export function Path({ text, width }: { text: string; width: number }) {
  return (
    <>
      {brief(text, width)
        .split(/(?<=[/\\])/)
        .map((piece, at) => (
          <>
            {at > 0 && <wbr />}
            {piece}
          </>
        ))}
    </>
  );
}

/** Links to the page of a run only if the path is relative, because names are untrusted. */
export function RunLink({ id, page }: { id: string; page: string | null }) {
  const isSafe = page !== null && !/^[a-z][a-z0-9+.-]*:|^\/|^\\/i.test(page);
  return isSafe ? <a href={page}>{brief(id, 24)}</a> : <span>{brief(id, 24)}</span>;
}

/** The items of a list, or the rows of a table of `columns`: at most `most`, with a button for more. */
export function Few<T>({ items, most, draw, columns }: FewProps<T>) {
  const [shown, setShown] = useState(most);
  const more = items.length > shown && (
    <Button class="more" onClick={() => setShown(shown + 100)}>
      {count(items.length - shown)} more
    </Button>
  );
  return (
    <>
      {items.slice(0, shown).map(draw)}
      {more && !columns && <li class="rest">{more}</li>}
      {more && columns && (
        <tr>
          <td colSpan={columns}>{more}</td>
        </tr>
      )}
    </>
  );
}

interface FewProps<T> {
  items: T[];
  most: number;
  draw: (item: T, at: number) => ComponentChildren;
  columns?: number;
}
