// Values as text, cut to the chosen width, with a button for more and with invisible characters written out. Huge
// values expand in pieces, so that no click freezes the page.

import { useState } from 'preact/hooks';
import { diff } from '../data/diff.ts';
import { valueWidth } from '../state.ts';
import { brief, count, cutInside, head, visible } from '../text.ts';
import { Button } from './parts.tsx';

const PIECE = 20_000;

export function Value({ text, width }: { text: string; width?: number }) {
  const [shown, setShown] = useState(0);
  const limit = Math.max(shown, width ?? valueWidth.value);
  if (text.length <= limit) return <span class="value">{visible(text)}</span>;
  const label = shown === 0 ? 'more' : `${count(Math.min(PIECE, text.length - shown))} more`;
  return (
    <span class="value">
      {visible(head(text, limit))}…{' '}
      <Button
        class="more"
        title={`${count(text.length)} characters`}
        onClick={event => {
          event.stopPropagation();
          setShown(limit + PIECE);
        }}
      >
        {label}
      </Button>
    </span>
  );
}

/** The tokens of a TLA+ value: numbers, names, strings, blanks and signs. */
function tokens(value: string): string[] {
  return value.match(/"(?:[^"\\]|\\.)*"|[\p{L}\p{N}_]+|\|->|:>|@@|<<|>>|\s+|[^\s]/gu) ?? [];
}

/** A part of a value, and whether other values differ there. */
export interface Stretch {
  text: string;
  differs: boolean;
}

/** Marks where each value differs from the others. Values with the same number of tokens are compared token by token,
 * others by their elements; long ones differ as a whole. */
export function marked(values: string[]): Stretch[][] {
  const first = values[0];
  if (first === undefined) return [];
  if (values.every(value => value === first)) return values.map(text => [{ text, differs: false }]);
  if (values.some(value => value.length > 4_000)) return values.map(text => [{ text, differs: true }]);
  const cut = values.map(tokens);
  if (cut.every(words => words.length === cut[0]!.length)) {
    const differs = cut[0]!.map((text, at) => cut.some(other => other[at] !== text));
    return cut.map(words => join(words.map((text, at) => ({ text, differs: differs[at]! }))));
  }
  return values.map((value, at) => (at === 0 ? against(values.slice(1, 9), value) : against([first], value)));
}

/** Marks the parts of a value that one of the others lacks. */
function against(others: string[], value: string): Stretch[] {
  const differs = new Uint8Array(value.length);
  for (const other of others) {
    let at = 0;
    for (const { text, kind } of diff(other, value)) {
      if (kind === 'removed') continue;
      if (kind === 'added') differs.fill(1, at, at + text.length);
      at += text.length;
    }
  }
  let at = 0;
  const letters = [...value].map(text => {
    at += text.length;
    return { text, differs: differs[at - text.length] === 1 };
  });
  return join(letters);
}

/** Merges adjacent stretches, to keep the number of elements small. */
function join(words: Stretch[]): Stretch[] {
  const out: Stretch[] = [];
  for (const word of words) {
    const last = out[out.length - 1];
    if (last && (last.differs === word.differs || word.text.trim() === '')) last.text += word.text;
    else out.push({ ...word });
  }
  return out;
}

/** Length of equal text kept on either side of a difference. */
const KEPT = 15;

/** A value with differences underlined. Equal text is cut first, so that differences stay visible. */
export function Marked({ words, width }: { words: Stretch[]; width?: number }) {
  const [all, setAll] = useState(false);
  const limit = Math.max(width ?? valueWidth.value, 40);
  const length = words.reduce((sum, word) => sum + word.text.length, 0);
  const long = length > limit;
  let room = all ? PIECE : words.some(word => word.differs) ? 3 * limit : limit;
  const runs: Stretch[] = [];
  for (const { text, differs } of words) {
    if (room <= 0) break;
    const part = long && !all && !differs && words.length > 1 ? cutInside(text, KEPT, KEPT) : text;
    runs.push({ text: brief(part, room), differs });
    room -= part.length;
  }
  return (
    <span class="value">
      {runs.map(run => (run.differs ? <mark class="differs">{run.text}</mark> : run.text))}
      {long && (
        <>
          {room <= 0 && !runs[runs.length - 1]?.text.endsWith('…') && '…'}{' '}
          <Button class="more" onClick={() => setAll(!all)}>
            {all ? 'less' : 'more'}
          </Button>
        </>
      )}
    </span>
  );
}
