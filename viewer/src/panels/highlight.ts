// The tokens of TLA+ that are coloured: keywords, operators that are words, strings, comments and the names that a line
// defines. This is not a parser; whatever it does not know stays plain. Comments nest and span lines, so a line is read
// with the number of comments that are open before it.

export type Kind = 'keyword' | 'string' | 'comment' | 'defined' | 'plain';

export interface Token {
  text: string;
  kind: Kind;
}

const KEYWORDS = new Set(
  `ACTION ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE IF IN
  INSTANCE LAMBDA LEMMA LET LOCAL MODULE OTHER PROOF RECURSIVE STRING SUBSET THEN THEOREM TRUE UNCHANGED UNION VARIABLE
  VARIABLES WITH CONSTRAINT INIT INVARIANT INVARIANTS NEXT PROPERTY SPECIFICATION SYMMETRY VIEW`.split(/\s+/),
);

const TOKEN = /\(\*|\*\)|\\\*.*|"(?:[^"\\]|\\.)*"|\\[A-Za-z]+|[\p{L}_][\p{L}\p{N}_!]*|[^\p{L}_"\\(*]+|./gu;

/** The tokens of a line, and the number of comments that are open after it. */
export function tokensOf(line: string, open: number): { tokens: Token[]; open: number } {
  const tokens: Token[] = [];
  const push = (text: string, kind: Kind) => {
    const last = tokens.at(-1);
    if (last?.kind === kind) last.text += text;
    else tokens.push({ text, kind });
  };
  // `Name ==` and `Name(a, b) ==` at the beginning of a line.
  const defined = open === 0 ? /^\s*([\p{L}_][\p{L}\p{N}_]*)\s*(\([^()]*\))?\s*==/u.exec(line)?.[1] : undefined;
  let isFirst = true;
  for (const [text] of line.matchAll(TOKEN)) {
    if (text === '(*') open += 1;
    if (open > 0) {
      push(text, 'comment');
      if (text === '*)') open -= 1;
    } else if (text.startsWith('\\*')) push(text, 'comment');
    else if (text.startsWith('"') && text.length > 1) push(text, 'string');
    else if (KEYWORDS.has(text) || /^\\[A-Za-z]/.test(text)) push(text, 'keyword');
    else if (isFirst && text === defined) push(text, 'defined');
    else push(text, 'plain');
    if (text.trim() !== '') isFirst = false;
  }
  return { tokens, open };
}

/** The number of comments that are open before each line. */
export function openBefore(lines: string[]): number[] {
  let open = 0;
  return lines.map(line => {
    const before = open;
    // Without these, nothing opens or closes.
    if (open > 0 || line.includes('(*')) open = tokensOf(line, open).open;
    return before;
  });
}
