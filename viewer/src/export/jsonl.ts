// Operations of a report as JSON Lines, which `omnilink check` reads.
//
// Values are printed TLA+ in a report; here they become the JSON that the trace format maps to the same values. Integers
// keep all their digits.

import type { Field, Operation, OpRef, Report } from '../data/types.ts';
import { type Node, parseValue } from '../panels/tla.ts';

/** One line per operation; null if a value was cut in the report. `timesOf` gives exact times, if they are known. */
export function jsonLines(
  report: Report,
  refs: OpRef[],
  timesOf: (op: OpRef) => { start: number; end: number | null } | null,
): string | null {
  const lines: string[] = [];
  for (const ref of refs) {
    const operation = report.operations[ref];
    if (!operation) continue;
    const line = lineOf(operation, timesOf(ref) ?? operation);
    if (line === null) return null;
    lines.push(line);
  }
  return lines.map(line => `${line}\n`).join('');
}

function lineOf(operation: Operation, { start, end }: { start: number; end: number | null }): string | null {
  const args = fieldsOf(operation.args);
  const results = fieldsOf(operation.results);
  if (args === null || results === null) return null;
  const parts = [
    `"process":${JSON.stringify(operation.process)}`,
    `"action":${JSON.stringify(operation.action)}`,
    `"start":${start}`,
    ...(end === null ? [] : [`"end":${end}`]),
    ...(operation.args.length > 0 ? [`"args":${args}`] : []),
    ...(operation.results.length > 0 ? [`"results":${results}`] : []),
  ];
  return `{${parts.join(',')}}`;
}

/** An object if the fields have names, else an array; null if a value was cut. */
function fieldsOf(fields: Field[]): string | null {
  const values = fields.map(({ value }) => jsonOf(value));
  if (values.includes(null)) return null;
  const isNamed = fields.every(({ name }) => name !== '');
  return isNamed
    ? `{${fields.map(({ name }, at) => `${JSON.stringify(name)}:${values[at]}`).join(',')}}`
    : `[${values.join(',')}]`;
}

/** A printed value as JSON; null if it was cut. */
export function jsonOf(text: string): string | null {
  if (text.endsWith('…')) return null;
  const node = parseValue(text);
  return node ? print(node) : JSON.stringify(text);
}

function print(node: Node): string {
  switch (node.kind) {
    case 'word':
      return word(node.text);
    case 'tuple':
      return `[${node.items.map(print).join(',')}]`;
    case 'set':
      return `{"#set":[${node.items.map(print).join(',')}]}`;
    case 'record':
      return `{${node.entries.map(({ key, value }) => `${JSON.stringify(unquoted(key))}:${print(value)}`).join(',')}}`;
    case 'function':
      return `{"#fun":[${node.entries.map(({ key, value }) => `[${jsonOf(key)},${print(value)}]`).join(',')}]}`;
  }
}

function word(text: string): string {
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return text;
  if (text === 'TRUE' || text === 'FALSE') return text.toLowerCase();
  if (text === 'nil') return 'null';
  return JSON.stringify(unquoted(text));
}

function unquoted(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}
