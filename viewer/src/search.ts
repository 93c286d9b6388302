// The query language of the filter box: `op:Dequeue val:49600 thread:3 status:blocked dur>1ms before:T3:88 free text`.
//
// A query is a list of terms, all of which must match. A term is `key:value`, `dur` or `took` with a comparison, or a
// word to find in the text or name of an operation. `-term` excludes, and quotes group words. Names of arguments,
// results and metadata are keys too. `parse` reports every error with what it expected; `matcher` compiles the valid
// terms into a predicate.

export interface Candidate {
  name: string;
  process: string;
  action: string;
  text: string;
  /** In ticks since the origin. */
  start: number;
  /** Null if the operation is unfinished. */
  end: number | null;
  status: string;
  fields: { name: string; value: string }[];
}

export type Compare = '>' | '<' | '>=' | '<=' | '=';

export type Term = { not: boolean } & (
  | { kind: 'text'; text: string }
  | { kind: 'op' | 'val' | 'thread' | 'status' | 'name' | 'before' | 'after' | 'overlaps'; value: string }
  | { kind: 'field'; name: string; value: string }
  | { kind: 'dur'; compare: Compare; ticks: number }
);

export interface Query {
  terms: Term[];
  errors: string[];
}

const KEYS = ['op', 'val', 'thread', 'status', 'name', 'dur', 'before', 'after', 'overlaps'];
const STATUSES = ['placed', 'blocked', 'waiting', 'after', 'uncounted', 'unfinished'];

const UNITS: Record<string, number> = { '': 1, ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

/** Splits a query at unquoted blanks. */
function words(query: string): { words: { text: string; quoted: boolean }[]; open: boolean } {
  const found: { text: string; quoted: boolean }[] = [];
  let text = '';
  let quoted = false;
  let inside = false;
  const push = () => {
    if (text !== '' || quoted) found.push({ text, quoted });
    text = '';
    quoted = false;
  };
  for (const char of query) {
    if (char === '"') {
      if (text === '') quoted = true;
      inside = !inside;
    } else if (!inside && /\s/.test(char)) push();
    else text += char;
  }
  push();
  return { words: found, open: inside };
}

/** Parses a query. `fields` are the names of arguments, results and metadata in this history. */
export function parse(query: string, fields: readonly string[] = []): Query {
  const terms: Term[] = [];
  const errors: string[] = [];
  const { words: cut, open } = words(query);
  if (open) errors.push('unclosed quote');
  for (const { text: word, quoted } of cut) {
    if (quoted) {
      terms.push({ not: false, kind: 'text', text: word.toLowerCase() });
      continue;
    }
    const not = word.length > 1 && word.startsWith('-') && !/^-\d/.test(word);
    const text = not ? word.slice(1) : word;
    const pair = /^([A-Za-z_][\w.-]*)(:|>=|<=|>|<|=)(.*)$/s.exec(text);
    const key = pair?.[1]?.toLowerCase() ?? '';
    const sign = pair?.[2] ?? '';
    const value = pair?.[3] ?? '';
    // Operation names such as `T3:88` contain a colon too.
    if (!pair || (sign === ':' && /^\d+$/.test(value) && !KEYS.includes(key) && !fields.includes(pair[1] ?? ''))) {
      terms.push({ not, kind: 'text', text: text.toLowerCase() });
      continue;
    }
    if (value === '') {
      errors.push(`expected a value after \`${text}\``);
    } else if (key === 'dur' || key === 'took') {
      const amount = /^([\d.,_]+)\s*([a-zµ]*)$/i.exec(value);
      const unit = UNITS[amount?.[2]?.toLowerCase() ?? '?'];
      const ticks = Number((amount?.[1] ?? '').replace(/[,_]/g, '')) * (unit ?? Number.NaN);
      if (Number.isNaN(ticks)) errors.push(`\`${value}\` is not a duration: expected \`dur>1ms\` or \`dur<200ns\``);
      else terms.push({ not, kind: 'dur', compare: sign === ':' ? '=' : (sign as Compare), ticks });
    } else if (sign !== ':' && sign !== '=') {
      errors.push(`unsupported comparison \`${sign}\`: only \`dur\` can be compared`);
    } else if (key === 'status') {
      const status = STATUSES.find(known => known.startsWith(value.toLowerCase()));
      if (status) terms.push({ not, kind: 'status', value: status });
      else errors.push(`unrecognized status \`${value}\`: expected ${STATUSES.join(', ')}`);
    } else if (key === 'op' || key === 'val' || key === 'thread' || key === 'name') {
      terms.push({ not, kind: key, value: value.toLowerCase() });
    } else if (key === 't' || key === 'process') {
      terms.push({ not, kind: 'thread', value: value.toLowerCase() });
    } else if (key === 'before' || key === 'after' || key === 'overlaps') {
      terms.push({ not, kind: key, value });
    } else {
      const field = fields.find(name => name.toLowerCase() === key);
      if (field !== undefined) terms.push({ not, kind: 'field', name: field, value: value.toLowerCase() });
      else errors.push(`unrecognized key \`${pair[1]}\`: expected ${[...KEYS, ...fields].join(', ')}`);
    }
  }
  return { terms, errors };
}

/** Looks up an operation named by `before:`, `after:` or `overlaps:`; null if there is none. */
export type Resolve = (name: string) => { start: number; end: number | null } | null;

/** Compiles a query into a predicate. Reports each operation that the query names and `resolve` cannot find. */
export function matcher(query: Query, resolve: Resolve): { test: (op: Candidate) => boolean; errors: string[] } {
  const errors: string[] = [];
  const tests = query.terms.map(term => {
    const test = testOf(term, resolve, errors);
    return term.not ? (op: Candidate) => !test(op) : test;
  });
  return { test: op => tests.every(test => test(op)), errors };
}

function testOf(term: Term, resolve: Resolve, errors: string[]): (op: Candidate) => boolean {
  switch (term.kind) {
    case 'text':
      return op => op.text.toLowerCase().includes(term.text) || op.name.toLowerCase() === term.text;
    case 'op':
      return op => op.action.toLowerCase() === term.value;
    case 'name':
      return op => op.name.toLowerCase() === term.value;
    case 'val':
      return op => op.fields.some(field => same(field.value, term.value));
    case 'field':
      return op => op.fields.some(field => field.name === term.name && same(field.value, term.value));
    case 'thread':
      return op => isThread(op.process, term.value);
    case 'status':
      return op => op.status === term.value || (term.value === 'unfinished' && op.end === null);
    case 'dur':
      return op => op.end !== null && COMPARE[term.compare](op.end - op.start, term.ticks);
    default: {
      const other = resolve(term.value);
      if (!other) {
        errors.push(`no operation \`${term.value}\``);
        return () => false;
      }
      const end = other.end ?? Number.POSITIVE_INFINITY;
      if (term.kind === 'before') return op => op.end !== null && op.end < other.start;
      if (term.kind === 'after') return op => op.start > end;
      return op => op.start <= end && (op.end ?? Number.POSITIVE_INFINITY) >= other.start;
    }
  }
}

/** Compares values; the quotes of a string are optional. */
function same(value: string, wanted: string): boolean {
  const lower = value.toLowerCase();
  return lower === wanted || lower === `"${wanted}"`;
}

/** `thread:3` matches `T3`, `p3` and `3`. */
function isThread(process: string, wanted: string): boolean {
  const lower = process.toLowerCase();
  return lower === wanted || (/^\d+$/.test(wanted) && lower.replace(/^\D+/, '') === wanted);
}

const COMPARE: Record<Compare, (left: number, right: number) => boolean> = {
  '>': (left, right) => left > right,
  '<': (left, right) => left < right,
  '>=': (left, right) => left >= right,
  '<=': (left, right) => left <= right,
  '=': (left, right) => left === right,
};
