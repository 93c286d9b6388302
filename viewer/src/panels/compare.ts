// Compares the values that an event of a log tells about variables with those that the specification gives them.
//
// A field with the name of a variable is a JSON value, or a list of updates such as
// `[{"op": "AddElement", "path": [], "args": ["rm-0"]}]`. JSON has no sets, functions or model values, so a value is
// rewritten in the form of the one it is compared with: an array as a set, an object as a function. Where the variable
// is a function of processes and the field is not, the field is compared with the value for its process. The mapping of
// the log may rename values, which this comparison does not know: it shows differences, and decides nothing. What rules
// of the mapping compare is known exactly: such a field is named like `term["n1"]'`, and its value is TLA+.

import type { Field } from '../data/types.ts';
import { unquoted } from '../text.ts';
import { type Node, parseValue, partsOf, print } from './tla.ts';

/** A logged value beside that of the specification. */
export interface Compared {
  /** The variable, or a part of it: `rmState["rm-0"]`. */
  what: string;
  logged: string;
  /** Empty if the variable has no such part. */
  given: string;
  /** Null if the two cannot be compared. */
  differs: boolean | null;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The fields of an event that have the name of a variable, compared, and the other fields. `values` are those of
 * `variables`. */
export function compareLogged(
  fields: Field[],
  process: string,
  variables: string[],
  values: string[],
): { compared: Compared[]; others: Field[] } {
  const compared: Compared[] = [];
  const others: Field[] = [];
  const ruled = new Set(fields.map(field => TOLD.exec(field.name)).map(told => told && told[1]! + told[2]!));
  for (const field of fields) {
    const told = TOLD.exec(field.name);
    const variable = variables.indexOf(told?.[1] ?? field.name);
    if (variable < 0 || ruled.has(field.name)) others.push(field);
    else if (told) compared.push(compareTold(field.value, told[1]!, told[2]!, values[variable]!));
    else compared.push(...compareField(field, process, values[variable]!));
  }
  return { compared, others };
}

/** A variable, indices and fields, and a prime. */
const TOLD = /^([\p{L}_][\p{L}\p{N}_]*)((?:\[[^\]]*\]|\.\w+)*)'$/u;

/** Compares a value of a rule, which is TLA+ in a string. */
function compareTold(value: string, name: string, path: string, given: string): Compared {
  const what = name + path;
  const text = readText(value);
  const logged = text === null ? null : parseValue(text);
  let part = parseValue(given);
  for (const [key] of path.matchAll(/\[[^\]]*\]|\.\w+/g)) {
    part = part && (partOf(part, unquoted(key.replace(/^\.|^\[|\]$/g, '')))?.value ?? null);
  }
  if (!logged || !part) return { what, logged: text ?? value, given: part ? print(part) : '', differs: null };
  return { what, logged: print(logged), given: print(part), differs: print(logged) !== print(part) };
}

/** The content of a string as printed; null if it was cut. */
function readText(text: string): string | null {
  try {
    const content = JSON.parse(text) as unknown;
    return typeof content === 'string' ? content : text;
  } catch {
    return null;
  }
}

function compareField({ name, value }: Field, process: string, given: string): Compared[] {
  const json = readJson(value);
  const node = parseValue(given);
  if (json === undefined || !node)
    return [{ what: name, logged: value, given, differs: value === given ? false : null }];
  if (isUpdates(json)) return json.map(update => compareUpdate(name, update, node));
  const own = partOf(node, process);
  const isOwn = own !== null && !hasKeyOf(json, node);
  const [what, part] = isOwn ? [`${name}[${own.key}]`, own.value] : [name, node];
  return [compareValues(what, json, part)];
}

function compareValues(what: string, json: Json, node: Node): Compared {
  const [logged, given] = [print(inFormOf(json, node)), print(node)];
  return { what, logged, given, differs: logged !== given };
}

interface Update {
  op: string;
  path?: Json[];
  args?: Json[];
}

function isUpdates(json: Json): json is Json & Update[] {
  const isUpdate = (item: Json) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) && typeof item.op === 'string';
  return Array.isArray(json) && json.length > 0 && json.every(isUpdate);
}

function compareUpdate(name: string, { op, path = [], args = [] }: Update, variable: Node): Compared {
  let part: Node | null = variable;
  let what = name;
  for (const key of path) {
    const found: ReturnType<typeof partOf> = part && partOf(part, String(key));
    what += `[${found?.key ?? JSON.stringify(key)}]`;
    part = found?.value ?? null;
  }
  const text = args.map(arg => print(fromJson(arg))).join(', ');
  if (!part) return { what, logged: `${op} ${text}`.trim(), given: '', differs: true };
  const given = print(part);
  const first = args[0];
  if ((op === 'Update' || op === 'set') && first !== undefined) return compareValues(what, first, part);
  const isAdded = /^(AddElements?|add)$/.test(op);
  if ((isAdded || /^(RemoveElement|remove)$/.test(op)) && part.kind === 'set') {
    const elements = op === 'AddElements' ? args.flat() : args;
    const { items } = part;
    const isIn = (element: Json) => items.some(item => print(inFormOf(element, item)) === print(item));
    const shown = elements.map(element => print(likeOneOf(element, items))).join(', ');
    return {
      what,
      logged: `${isAdded ? 'with' : 'without'} ${shown}`,
      given,
      differs: elements.some(element => isIn(element) !== isAdded),
    };
  }
  return { what, logged: `${op} ${text}`.trim(), given, differs: null };
}

/** The part of a function, record or sequence for a key. */
function partOf(node: Node, key: string): { key: string; value: Node } | null {
  const found = [...(partsOf(node) ?? [])].find(([each]) => unquoted(each) === key);
  return found ? { key: node.kind === 'record' ? unquoted(found[0]) : found[0], value: found[1] } : null;
}

function hasKeyOf(json: Json, node: Node): boolean {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  return Object.keys(json).some(key => partOf(node, key) !== null);
}

/** A JSON value in the form of a TLA+ value where that is possible, so that equal ones print alike. */
function inFormOf(json: Json, like: Node): Node {
  if (like.kind === 'word') {
    const plain = fromJson(json);
    return plain.kind === 'word' && unquoted(plain.text) === unquoted(like.text) ? like : plain;
  }
  if (Array.isArray(json) && like.kind === 'tuple') {
    return {
      kind: 'tuple',
      items: json.map((item, at) => (like.items[at] ? inFormOf(item, like.items[at]) : fromJson(item))),
    };
  }
  if (Array.isArray(json) && like.kind === 'set') {
    const items = json.map(item => likeOneOf(item, like.items));
    const isIn = (node: Node, nodes: Node[]) => nodes.some(other => print(other) === print(node));
    // Common elements first, in the same order; a set has each element once.
    const common = like.items.filter(item => isIn(item, items));
    const rest = items.filter((item, at) => !isIn(item, like.items) && !isIn(item, items.slice(0, at)));
    return { kind: 'set', items: [...common, ...rest] };
  }
  if (Array.isArray(json) && like.kind === 'function') {
    const entries = json.map((item, at) => {
      const known = partOf(like, String(at + 1));
      return { key: String(at + 1), value: known ? inFormOf(item, known.value) : fromJson(item) };
    });
    return { kind: 'function', entries };
  }
  if (
    typeof json === 'object' &&
    json !== null &&
    !Array.isArray(json) &&
    (like.kind === 'record' || like.kind === 'function')
  ) {
    const keys = Object.keys(json);
    const known = like.entries.filter(({ key }) => keys.includes(unquoted(key)));
    const rest = keys.filter(key => !known.some(entry => unquoted(entry.key) === key));
    return {
      kind: like.kind,
      entries: [
        ...known.map(({ key, value }) => ({ key, value: inFormOf(json[unquoted(key)]!, value) })),
        ...rest.map(key => ({ key: like.kind === 'record' ? key : JSON.stringify(key), value: fromJson(json[key]!) })),
      ],
    };
  }
  return fromJson(json);
}

/** A JSON value in the form of the element that it equals, or else of the first. */
function likeOneOf(json: Json, items: Node[]): Node {
  for (const item of items) {
    const node = inFormOf(json, item);
    if (print(node) === print(item)) return node;
  }
  return items[0] ? inFormOf(json, items[0]) : fromJson(json);
}

function fromJson(json: Json): Node {
  if (Array.isArray(json)) return { kind: 'tuple', items: json.map(fromJson) };
  if (typeof json === 'object' && json !== null) {
    return { kind: 'record', entries: Object.entries(json).map(([key, value]) => ({ key, value: fromJson(value) })) };
  }
  if (typeof json === 'boolean') return { kind: 'word', text: json ? 'TRUE' : 'FALSE' };
  return { kind: 'word', text: JSON.stringify(json) };
}

/** The JSON value of a field as printed; undefined if it was cut. Arrays and objects are printed as strings. */
function readJson(text: string): Json | undefined {
  if (/^(TRUE|FALSE)$/i.test(text)) return /^T/i.test(text);
  if (/^(nil|null)$/i.test(text)) return null;
  try {
    const json = JSON.parse(text) as Json;
    if (typeof json !== 'string' || !/^[[{]/.test(json)) return json;
    return json.endsWith('…') ? undefined : (JSON.parse(json) as Json);
  } catch {
    return undefined;
  }
}

/** The value of a field for people: without the quotes around arrays and objects. */
export function plainField(text: string): string {
  const json = readJson(text);
  return typeof json === 'object' && json !== null ? JSON.stringify(json) : text;
}
