// Values as text: cut to the width that the reader chose, with a button that shows more, and with every character
// visible. A megabyte is shown in pieces, so that no press of a button freezes the page.

import { useState } from 'preact/hooks';
import { valueWidth } from '../state.ts';
import { count, head, visible } from '../text.ts';

const PIECE = 20_000;

/** A value that may be long. */
export function Value({ text, width }: { text: string; width?: number }) {
  const [shown, setShown] = useState(0);
  const limit = Math.max(shown, width ?? valueWidth.value);
  if (text.length <= limit) return <span class="value">{visible(text)}</span>;
  const label = shown === 0 ? 'more' : `${count(Math.min(PIECE, text.length - shown))} more`;
  return (
    <span class="value">
      {visible(head(text, limit))}…{' '}
      <button
        type="button"
        class="more"
        title={`${count(text.length)} characters`}
        onClick={event => {
          event.stopPropagation();
          setShown(limit + PIECE);
        }}
      >
        {label}
      </button>
    </span>
  );
}

/** Text that came from outside and is short, such as a name. */
export function Text({ text }: { text: string }) {
  return <>{visible(text.length > 400 ? `${head(text, 400)}…` : text)}</>;
}

/** The words of a TLA+ value: numbers, names, strings and signs. */
export function tokens(value: string): string[] {
  return value.match(/"(?:[^"\\]|\\.)*"|[\p{L}\p{N}_]+|\|->|:>|@@|<<|>>|\s+|[^\s]/gu) ?? [];
}

/** For each value, its tokens and whether they differ between the values. Values that are long are not compared word by
 * word: they are one token each. */
export function marked(values: string[]): { text: string; differs: boolean }[][] {
  const first = values[0];
  if (first === undefined) return [];
  if (values.every(value => value === first)) return values.map(text => [{ text, differs: false }]);
  if (values.some(value => value.length > 4_000)) return values.map(text => [{ text, differs: true }]);
  const cut = values.map(tokens);
  const equal = cut.every(words => words.length === cut[0]!.length);
  if (equal) {
    const differs = cut[0]!.map((text, at) => cut.some(other => other[at] !== text));
    return cut.map(words => words.map((text, at) => ({ text, differs: differs[at]! })));
  }
  const shortest = Math.min(...cut.map(words => words.length));
  let front = 0;
  while (front < shortest && cut.every(words => words[front] === cut[0]![front])) front += 1;
  let back = 0;
  const fromEnd = (words: string[], at: number) => words[words.length - 1 - at];
  while (back < shortest - front && cut.every(words => fromEnd(words, back) === fromEnd(cut[0]!, back))) back += 1;
  return cut.map(words =>
    words.map((text, at) => ({ text, differs: at >= front && at < words.length - back && text.trim() !== '' })),
  );
}

/** Tokens with those that differ underlined, neighbours joined so that few elements are made. */
export function Marked({ words, width }: { words: { text: string; differs: boolean }[]; width?: number }) {
  const [all, setAll] = useState(false);
  const limit = all ? PIECE : Math.max(width ?? valueWidth.value, 40);
  const runs: { text: string; differs: boolean }[] = [];
  let length = 0;
  let cut = false;
  for (const word of words) {
    if (length >= limit) {
      cut = true;
      break;
    }
    const text = head(word.text, limit - length);
    if (text.length < word.text.length) cut = true;
    length += text.length;
    const last = runs[runs.length - 1];
    if (last && (last.differs === word.differs || word.text.trim() === '')) last.text += text;
    else runs.push({ text, differs: word.differs });
  }
  return (
    <span class="value">
      {runs.map(run => (run.differs ? <mark class="differs">{visible(run.text)}</mark> : visible(run.text)))}
      {cut && !all && (
        <>
          …{' '}
          <button type="button" class="more" onClick={() => setAll(true)}>
            more
          </button>
        </>
      )}
      {cut && all && '…'}
    </span>
  );
}
