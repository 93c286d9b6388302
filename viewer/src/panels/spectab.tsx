// The source of the specification, with outcomes in the margin.

import type { Outcome, Report, Span } from '../data/types.ts';
import { verdictView } from '../data/verdict.ts';
import { report } from '../state.ts';
import { base, brief, unitOfByte, visible } from '../text.ts';
import { openBefore, type Token, tokensOf } from './highlight.ts';
import { specAt } from './local.ts';
import { glyph, gravest } from './outcome.ts';
import { Button } from './parts.tsx';
import { Rows } from './virtual.tsx';

interface Mark {
  /** Columns of the line, in UTF-16 units. */
  from: number;
  to: number;
  outcome: Outcome | null;
}

interface Lines {
  text: string[];
  /** The number of comments that are open before each line. */
  open: number[];
  marks: Map<number, Mark[]>;
}

const read = new WeakMap<Report, Lines[]>();

/** The spans of the report with their outcomes. */
function spans(about: Report): { span: Span; outcome: Outcome | null }[] {
  const verdict = verdictView(about);
  if (verdict.kind === 'invariant')
    return verdict.conjuncts.map(each => ({ span: each.span, outcome: gravest(each.outcomes) }));
  if (verdict.kind !== 'stuck') return [];
  return verdict.reasons
    .filter(reason => verdict.blocked.length === 0 || verdict.blocked.includes(reason.op))
    .flatMap(({ why }): { span: Span; outcome: Outcome | null }[] => {
      if (why.kind === 'guard')
        return why.conjuncts.map(each => ({ span: each.span, outcome: gravest(each.outcomes) }));
      if (why.kind === 'excluded') return [{ span: why.span, outcome: 'false' }];
      if (why.kind === 'error' && why.span) return [{ span: why.span, outcome: { error: why.message } }];
      return [];
    });
}

function linesOf(about: Report): Lines[] {
  const known = read.get(about);
  if (known) return known;
  const made = about.sources.map((source, place): Lines => {
    const text = source.text.split('\n').map(line => line.replace(/\r$/, ''));
    const starts = [0];
    for (let at = source.text.indexOf('\n'); at !== -1; at = source.text.indexOf('\n', at + 1)) starts.push(at + 1);
    const marks = new Map<number, Mark[]>();
    for (const { span, outcome } of spans(about)) {
      if (span.source !== place) continue;
      const from = unitOfByte(source.text, span.start);
      const to = unitOfByte(source.text, span.end);
      let line = starts.findLastIndex(start => start <= from);
      for (; line < starts.length && starts[line]! < to; line += 1) {
        const begin = starts[line]!;
        const length = text[line]!.length;
        const indent = text[line]!.search(/\S|$/);
        const mark = { from: Math.max(from - begin, indent), to: Math.min(to - begin, length), outcome };
        if (mark.from < mark.to) marks.set(line, [...(marks.get(line) ?? []), mark]);
      }
    }
    return { text, open: openBefore(text), marks };
  });
  read.set(about, made);
  return made;
}

export function SpecTab() {
  const about = report.value;
  if (!about || about.sources.length === 0) return <p class="empty">No source available for this specification.</p>;
  const lines = linesOf(about);
  const at = specAt.value ?? {
    source: Math.max(
      0,
      lines.findIndex(each => each.marks.size > 0),
    ),
    line: 0,
  };
  const shown = lines[at.source] ?? lines[0]!;
  const marked = [...shown.marks.keys()].sort((a, b) => a - b);
  const isBad = (line: number) =>
    shown.marks.get(line)!.some(mark => mark.outcome && ['bad', 'odd'].includes(glyph(mark.outcome).tone));
  const first = marked.find(isBad) ?? marked[0];
  const active = at.line > 0 ? at.line - 1 : (first ?? 0);
  return (
    <div class="spec">
      {about.sources.length > 1 && (
        <div class="sources" role="group" aria-label="Sources">
          {about.sources.slice(0, 40).map((source, place) => (
            <Button
              class="small"
              aria-pressed={place === at.source}
              onClick={() => (specAt.value = { source: place, line: 0 })}
            >
              {brief(base(source.path), 40)}
            </Button>
          ))}
        </div>
      )}
      <Rows
        key={at.source}
        label={`Source of ${brief(about.sources[at.source]?.path ?? '', 80)}`}
        count={shown.text.length}
        height={20}
        columns={3}
        active={active}
        isCentred
        onActive={line => (specAt.value = { source: at.source, line: line + 1 })}
        rowClass={line => {
          const mark = shown.marks.get(line)?.[0];
          return mark?.outcome ? glyph(mark.outcome).tone : '';
        }}
        draw={line => (
          <Line text={shown.text[line]!} open={shown.open[line]!} marks={shown.marks.get(line) ?? []} line={line} />
        )}
      />
    </div>
  );
}

function Line({ text, open, marks, line }: { text: string; open: number; marks: Mark[]; line: number }) {
  const outcome = marks.length > 0 ? gravest(marks.flatMap(mark => (mark.outcome ? [mark.outcome] : []))) : null;
  const sign = outcome ? glyph(outcome) : null;
  const mark = marks.find(each => each.outcome === outcome) ?? marks[0];
  // Lines may be arbitrarily long.
  const shown = text.length > 500 ? text.slice(0, 500) : text;
  const from = mark ? Math.min(mark.from, shown.length) : 0;
  const to = mark ? Math.min(mark.to, shown.length) : 0;
  const { tokens } = tokensOf(shown, open);
  return (
    <>
      <span role="gridcell" class="number">
        {line + 1}
      </span>
      <span role="gridcell" class={`margin ${sign?.tone ?? ''}`}>
        {sign && (
          <>
            <span aria-hidden="true">{sign.sign}</span> {sign.word === 'not reached' ? '' : sign.word}
          </>
        )}
      </span>
      <code role="gridcell">
        {colored(tokens, 0, mark ? from : shown.length)}
        {mark && (
          <>
            <mark class={sign?.tone ?? ''}>{colored(tokens, from, to)}</mark>
            {colored(tokens, to, shown.length)}
          </>
        )}
        {text.length > 500 && '…'}
      </code>
    </>
  );
}

/** The part of a line between two columns, in colours. */
function colored(tokens: Token[], from: number, to: number) {
  let at = 0;
  return tokens.map(({ text, kind }) => {
    const [begin, end] = [Math.max(from, at) - at, Math.min(to, at + text.length) - at];
    at += text.length;
    if (begin >= end) return null;
    const part = tidy(text.slice(begin, end));
    return kind === 'plain' ? part : <span class={`tla-${kind}`}>{part}</span>;
  });
}

/** Expands tabs, and writes out other invisible characters. */
function tidy(text: string): string {
  return visible(text.replace(/\t/g, '    '));
}
