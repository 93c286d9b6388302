// The short spelling of values: functions and records as `1→10, 2→20`, and messages as `RequestVote n1→n2, term 1`.
//
// TLA+ prints one function as `(1 :> a @@ 2 :> b)`, as `<<a, b>>` if its domain is 1..n, and as `<<>>` if it is empty. A
// variable that is a function in one state is spelled as one in every state. Markdown, exports and links keep TLA+.

import { type Node, parseValue, print } from '../panels/tla.ts';

/** The short spelling of a value; `isFunction` if its variable is a function in some state. */
export function spelled(text: string, isFunction = false): string {
  if (!isFunction && !/:>|\|->/.test(text)) return text;
  // Built-in specifications leave out the brackets.
  const node = parseValue(text) ?? parseValue(`(${text})`);
  return node ? spell(node, isFunction, true) : text;
}

function spell(node: Node, isFunction: boolean, isOuter: boolean): string {
  const form = messageForm(node);
  if (form !== null) return isOuter ? form : `[${form}]`;
  const inner = (value: Node) => spell(value, false, false);
  const keyed = node.kind === 'function' ? node.entries : [];
  const bag = (node.kind === 'set' ? node.items : keyed.map(({ key }) => parseValue(key))).map(messageForm);
  if (bag.length > 0 && bag.every(form => form !== null)) {
    const often = (at: number) => (keyed[at] && print(keyed[at].value) !== '1' ? `${print(keyed[at].value)} × ` : '');
    return `{${bag.map((form, at) => `${often(at)}[${form}]`).join(', ')}}`;
  }
  const pairs =
    node.kind === 'function' || node.kind === 'record'
      ? node.entries
      : node.kind === 'tuple' && isFunction
        ? node.items.map((value, at) => ({ key: String(at + 1), value }))
        : null;
  if (pairs?.length === 0) return '(empty)';
  if (pairs) {
    const keyOf = (key: string) => (/^[[({<]/.test(key) ? inner(parseValue(key) ?? { kind: 'word', text: key }) : key);
    const text = pairs.map(({ key, value }) => `${keyOf(key)}→${inner(value)}`).join(', ');
    return isOuter ? text : node.kind === 'record' ? `[${text}]` : `(${text})`;
  }
  switch (node.kind) {
    case 'set':
      return `{${node.items.map(inner).join(', ')}}`;
    case 'tuple':
      return `<<${node.items.map(inner).join(', ')}>>`;
    default:
      return print(node);
  }
}

const [TYPE, SENDER, RECEIVER] = [/^m?(type|kind)$/i, /^m?(from|source|src|sender)$/i, /^m?(to|dest|dst|receiver)$/i];

/** The short form of a message, a record with a type; null for any other value. */
export function messageForm(node: Node | null): string | null {
  if (node?.kind !== 'record') return null;
  const bare = (value: Node) => print(value).replace(/^"(.*)"$/s, '$1');
  const find = (pattern: RegExp) => node.entries.find(({ key, value }) => pattern.test(key) && value.kind === 'word');
  const [type, from, to] = [TYPE, SENDER, RECEIVER].map(find);
  if (!type) return null;
  const rest = node.entries
    .filter(entry => ![type, from, to].includes(entry) && ['word', 'tuple'].includes(entry.value.kind))
    .map(({ key, value }) => `${key.replace(/^m(?=[A-Z])/, '')} ${bare(value)}`);
  const way = from || to ? [` ${from ? bare(from.value) : ''}→${to ? bare(to.value) : ''}`] : [];
  return [`${bare(type.value)}${way}`, ...rest].join(', ');
}

/** A member that came into a set, or whose count in a bag changed. */
export interface Member {
  sign: '+' | '−';
  text: string;
}

/** The messages that came into a set or a bag, and that left it; null if it has other members, or if nothing changed. */
export function messageChanges(before: string, after: string): Member[] | null {
  const [old, next] = [membersOf(before), membersOf(after)];
  if (!old || !next) return null;
  const found: Member[] = [];
  for (const key of new Set([...old.keys(), ...next.keys()])) {
    const by = (next.get(key) ?? 0) - (old.get(key) ?? 0);
    if (by === 0) continue;
    const text = messageForm(parseValue(key));
    if (text === null) return null;
    found.push({ sign: by > 0 ? '+' : '−', text });
  }
  return found.length > 0 ? found : null;
}

/** How often each member is in a set or a bag. */
function membersOf(text: string): Map<string, number> | null {
  const node = parseValue(text);
  if (node?.kind === 'set') return new Map(node.items.map(item => [print(item), 1]));
  if (node?.kind === 'function') return new Map(node.entries.map(({ key, value }) => [key, Number(print(value)) || 0]));
  return node?.kind === 'tuple' && node.items.length === 0 ? new Map() : null;
}
