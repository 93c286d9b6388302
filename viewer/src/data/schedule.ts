// The schedule of a controlled run in words: statements as accesses, who waits for whom, and the two accesses of a data
// race.

import { base } from '../text.ts';
import type { InterleavedStep, Interleaving, RacedAccess, Run } from './types.ts';

/** A call that accesses shared memory, or a lock. Its arguments follow. */
const METHOD =
  /(?:[\w:]+(?:\[[^\]]*\]|\(\))*(?:\.|->))+(?:load|store|swap|exchange|fetch_\w+|compare_\w+|lock|unlock|try_lock|wait|notify_\w+)\s*\(/g;
/** A type and a name, or `let` and a name, before the value that is assigned. */
const DECLARATION =
  /^(?:let\s+(?:mut\s+)?|(?:static\s+|const(?:expr)?\s+)*[\w:]+(?:<[^=]*>)?(?:\s+const)?(?:\s+|\s*[&*]+\s*))\w+(?:\s*:\s*[^=]+?)?\s*=(?!=)\s*/;
/** The order of memory that needs no mention. */
const STRONGEST = /,?\s*(?:(?:std::)?memory_order(?:_|::)seq_cst|(?:Ordering::)?SeqCst)(?=\s*[,)])/g;

/** The access in a line of the program, without the declaration around it: `head.load()`. */
export function accessOf(line: string): string {
  const found = [...line.matchAll(METHOD)];
  const only =
    found.length === 1 ? line.slice(found[0]!.index, closing(line, found[0]!.index + found[0]![0].length)) : null;
  const text =
    only ??
    line
      .replace(/;\s*(\/\/.*)?$/, '')
      .replace(DECLARATION, '')
      .replace(/^return\s+/, '');
  return text
    .replace(STRONGEST, '')
    .replace(/^(?:self\.(?=\D)|this->)/, '')
    .trim();
}

/** The place behind the bracket that closes the one before `from`. */
function closing(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if ('([{'.includes(text[at]!)) depth += 1;
    if (')]}'.includes(text[at]!)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** A call without the names that objects without a specification have for arguments, and without quotes around its action. */
function callText(text: string): string {
  return text
    .replace(/^"([^"]*)"\(/, '$1(')
    .replace(/\barg\d+: /g, '')
    .replace(/ = result: /, ' = ');
}

/** A step in words: the access, and the value that it read or wrote, or the values before and after. */
export function statementOf(step: InterleavedStep): { code: string; effect: string } {
  const { text, does = '', value, kind } = step;
  if (kind !== 'inside') return { code: callText(text), effect: '' };
  const code = text ? accessOf(text) : does;
  if (value == null) return { code, effect: text ? does : '' };
  if (does === 'stores' || does === 'writes') return { code, effect: `← ${value}` };
  if (does !== 'updates') return { code, effect: `= ${value}` };
  if (/\D$/.test(value)) return { code, effect: `= ${value}` };
  const after = updated(code, value);
  return { code, effect: after === null ? `was ${value}` : `${value} → ${after}` };
}

/** The value after an update, as far as the statement says it with a number. */
function updated(code: string, before: string): string | null {
  const [, name = '', args = ''] = /(\w+)\s*\(([^()]*)\)$/.exec(code) ?? [];
  const numbers = args.split(',').map(each => each.trim());
  const number = numbers[name.startsWith('compare') ? 1 : 0] ?? '';
  if (!/^-?\d+$/.test(number) || !/^-?\d+$/.test(before)) return null;
  if (name === 'fetch_add') return String(BigInt(before) + BigInt(number));
  if (name === 'fetch_sub') return String(BigInt(before) - BigInt(number));
  return /^(swap|exchange|compare_\w+)$/.test(name) ? number : null;
}

/** The names of the operations of steps, such as `T1:3`; null outside operations. */
export function operationsOf({ steps, threads }: Interleaving): (string | null)[] {
  const counts = threads.map(() => 0);
  const open = threads.map(() => null as string | null);
  return steps.map(({ thread, kind }) => {
    if (kind === 'call') open[thread] = `${threads[thread]}:${counts[thread]!++}`;
    const name = open[thread] ?? null;
    if (kind === 'return') open[thread] = null;
    return name;
  });
}

export interface Wait {
  thread: string;
  /** Its next step, such as `locks #2`. */
  does: string;
  /** A lock, such as `#2`; null if it waits for something else. */
  lock: string | null;
  /** The file and line; null if unknown. */
  place: string | null;
  /** The operation that waits; null if unknown. */
  operation: string | null;
  /** The number of its last step; null if it has none. */
  since: number | null;
  /** The thread that holds the lock, the operation that took it and the step; the latter are null if unknown. */
  holder: { thread: string; operation: string | null; step: number | null } | null;
}

/** The threads that were stuck inside operations, each with what it waits for. */
export function waitsOf({ waits = [], threads, steps }: Interleaving): Wait[] {
  const calls = new Map<number, string>();
  const last = new Map<number, { operation: string | null; step: number }>();
  const locked = new Map<string, { operation: string | null; step: number }>();
  for (const step of steps) {
    const { thread, kind, number, does = '', text } = step;
    if (kind === 'call') calls.set(thread, callText(text));
    const operation = calls.get(thread) ?? null;
    last.set(thread, { operation, step: number });
    if (kind === 'return') calls.delete(thread);
    const lock = /^(?:tries to lock|locks)(?: shared)? (#\d+)$/.exec(does)?.[1];
    if (lock) locked.set(`${lock} ${threads[thread]}`, { operation, step: number });
  }
  return waits.flatMap(text => {
    const at = threads.findIndex(name => text.startsWith(`${name} `));
    const found = /^(.+?)(?:, held by (.+?))?(?: at (\S+:\d+))?$/.exec(text.slice((threads[at]?.length ?? 0) + 1));
    if (at < 0 || !found) return [];
    const [, does = '', held, place = null] = found;
    const lock = /^locks(?: shared)? (#\d+)$/.exec(does)?.[1] ?? null;
    const taken = held ? locked.get(`${lock} ${held}`) : undefined;
    return {
      thread: threads[at]!,
      does,
      lock,
      place,
      operation: calls.get(at) ?? null,
      since: last.get(at)?.step ?? null,
      holder: held ? { thread: held, operation: taken?.operation ?? null, step: taken?.step ?? null } : null,
    };
  });
}

/** The waits to blame: those of threads that wait for each other, else those that only other threads wait for. */
export function cycleOf(waits: Wait[]): Wait[] {
  for (const first of waits) {
    const path: Wait[] = [];
    let next: Wait | undefined = first;
    while (next && !path.includes(next)) {
      path.push(next);
      const holder: string | undefined = next.holder?.thread;
      next = waits.find(({ thread }) => thread === holder);
    }
    if (next === first) return path;
  }
  return [];
}

/** Why an execution is stuck, in a sentence. Code is in backticks. */
export function stuckSentence(waits: Wait[]): string {
  const cycle = cycleOf(waits);
  const [first, second] = cycle.length > 0 ? cycle : waits;
  if (!first) return 'no thread can continue';
  const where = (wait: Wait) =>
    `${wait.operation ? ` in \`${wait.operation}\`` : ''}${wait.place ? ` (${base(wait.place)})` : ''}`;
  const { holder } = first;
  if (cycle.length === 2 && second)
    return `${first.thread} and ${second.thread} wait for each other: each holds the lock that the other needs`;
  if (cycle.length > 2) return `${cycle.map(({ thread }) => thread).join(', ')} wait for each other in a circle`;
  if (!first.lock) return `${first.thread} waits${where(first)}, and no thread is left that wakes it`;
  if (!holder) return `${first.thread} waits${where(first)} for a lock that no thread releases`;
  const taken = holder.operation ? `\`${holder.operation}\`` : 'operation';
  if (holder.thread !== first.thread)
    return `${first.thread} waits${where(first)} for a lock that ${holder.operation ? `${taken} of ` : ''}${holder.thread} never released`;
  return `${first.thread} waits${where(first)} for a lock that its own ${holder.operation === first.operation ? '' : 'earlier '}${taken} never released`;
}

export interface Access {
  /** The thread: `T1`. */
  thread: string;
  does: string;
  /** The operation: `Enqueue(2)`; null outside operations. */
  operation: string | null;
  /** The line of the program; empty if unknown. */
  line: string;
  /** The file and line: `src/main.cpp:23`; null if unknown. */
  place: string | null;
  /** The frames in the user's files, innermost first, and the number of the others. */
  frames: { name: string; place: string }[];
  folded: number;
  /** The number of the step before it. */
  after: number;
  /** The values of variables that its operation assigned before it, as far as steps show them. */
  known: Map<string, string>;
}

/** The accesses of the data race that is the finding of a run, the earlier one first; empty if there is none. */
export function accessesOf(run: Run | null, shown: Interleaving | null | undefined): Access[] {
  return (run?.race?.accesses ?? []).map(access => accessIn(access, shown));
}

function accessIn({ thread, operation, does, after_step, stack }: RacedAccess, shown?: Interleaving | null): Access {
  const found = /^(\S+?):\d+ (.*)$/s.exec(operation ?? '');
  const all = stack.flatMap(frame => {
    const at = frame.lastIndexOf(' at ');
    return at < 0 ? [] : { name: frame.slice(0, at), place: frame.slice(at + 4) };
  });
  const own = all.filter(({ place }) => isOfUser(place));
  const frames = own.length > 0 ? own : all.slice(0, 1);
  const place = frames[0]?.place ?? null;
  const name = found?.[1] ?? (thread === 0 ? 'main' : `thread ${thread}`);
  return {
    thread: name,
    does,
    operation: found?.[2] ?? null,
    line: place ? (lineAt(shown, place) ?? '').trim() : '',
    place,
    frames,
    folded: stack.length - frames.length,
    after: after_step,
    known: assignedBefore(name, after_step, place, shown),
  };
}

/** The numbers that a thread assigned to variables in its operation, up to a step: `at = head.load()` that read 0. A line
 * between that one and the access must not change the variable, because plain accesses are no steps. */
function assignedBefore(thread: string, until: number, access: string | null, shown?: Interleaving | null) {
  const known = new Map<string, string>();
  for (const { thread: at, kind, number, place, value } of shown?.steps ?? []) {
    if (shown?.threads[at] !== thread || number > until) continue;
    if (kind === 'call') known.clear();
    const name = /(?:^|[\s*&])([A-Za-z_]\w*)\s*=(?!=)/.exec((place && lineAt(shown, place)) ?? '')?.[1];
    if (!name || !place || value == null || !/^-?\d+$/.test(value)) continue;
    const [path, from, to] = [
      place.replace(/:\d+$/, ''),
      ...[place, access].map(each => Number(each?.split(':').at(-1))),
    ];
    const between = Array.from({ length: Math.max(0, to! - from! - 1) }, (_, i) =>
      lineAt(shown, `${path}:${from! + i + 1}`),
    );
    const changes = new RegExp(`\\b${name}\\s*(?:[-+*/%&|^]?=(?!=)|\\+\\+|--)|(?:\\+\\+|--|&)${name}\\b`);
    if (between.some(line => line === null || changes.test(line))) known.delete(name);
    else known.set(name, value);
  }
  return known;
}

/** Whether the user wrote a file: neither a standard library, nor the recorder, nor the harness. */
function isOfUser(place: string): boolean {
  return !/\/usr\/|\/rustc\/|\/rustlib\/|include\/omnilink\/|omnilink-record|crates\/record\/|(^|\/)operations\.\w+:/.test(
    place,
  );
}

/** The line of the program at a place; null if the report does not have it. */
export function lineAt(shown: Interleaving | null | undefined, place: string): string | null {
  const [, path, number] = /^(.*):(\d+)$/.exec(place) ?? [];
  const source = shown?.sources?.find(each => each.path === path);
  return source?.lines[Number(number) - source.first] ?? null;
}

/** Names, with members and indices: `this->slots[at].value`. */
const PLACE = /[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*|\[[^\]]*\])*(?!\w*\s*\()/g;
const KEYWORDS =
  /^(?:auto|bool|const|else|for|if|in|int|let|long|mut|return|static|unsafe|unsigned|while|\w+_t|std::.*)$/;

/** The variable that both accesses are about: `slots[0]`, or `slots[…]` if the index is not known; null if their lines have
 * none in common. */
export function variableOf([first, second]: Access[]): string | null {
  if (!first?.line || !second?.line) return null;
  const candidates = (access: Access) => {
    const [, left = '', right = ''] = /^(.*?[^=!<>])=(?!=)(.*)$/s.exec(access.line) ?? [];
    const isCompound = /[-+*/|&^]$/.test(left);
    const text = !left || isCompound ? access.line : access.does.endsWith('writes') ? left : right;
    const found = [...text.replace(/\/\/.*$/, '').matchAll(PLACE)].map(([each]) =>
      each.replace(/^(?:self\.|this->)/, ''),
    );
    return found.filter(each => !KEYWORDS.test(each));
  };
  const root = (place: string) => place.replace(/\[[^\]]*\]/g, '[]');
  const others = candidates(second);
  const pairs = candidates(first).flatMap(mine => {
    const other = others.find(each => root(each) === root(mine));
    return other === undefined ? [] : [[mine, other] as const];
  });
  const [mine, other] = pairs.toSorted((a, b) => b[0].length - a[0].length)[0] ?? [];
  if (mine === undefined || other === undefined) return null;
  const indexed = (place: string, { known }: Access) =>
    place.replace(/\[(\w+)\]/g, (text, name) => (known.has(name) ? `[${known.get(name)}]` : text));
  const [one, two] = [indexed(mine, first), indexed(other, second)];
  return one === two ? one : root(mine).replaceAll('[]', '[…]');
}

/** The data race in a sentence. Code is in backticks. */
export function raceSentence(accesses: Access[]): string {
  const [first, second] = accesses;
  if (!first || !second) return 'two accesses that nothing orders';
  const variable = variableOf(accesses);
  const [one, two] = [first.thread, second.thread];
  const frees = [first, second].filter(({ does }) => does === 'frees').length;
  if (frees === 2) return `${one} and ${two} both free the same memory`;
  if (frees === 1) return `${one} ${first.does} memory that ${two} ${second.does}, and nothing orders the two`;
  const about = variable ? `on \`${variable}\`: ` : '';
  const it = variable ? 'it' : 'the same memory';
  if (first.does === second.does)
    return `${about}${one} and ${two} both ${first.does.replace(/s$/, '')} ${it}, and nothing orders the two ${first.does}`;
  return `${about}${one} ${first.does} ${it}, ${two} ${second.does} it, and nothing orders the two`;
}

export function allowing(accesses: Access[]): string {
  const names = accesses.map(({ frames, place }) => {
    const name = frames[0]?.name.replace(/^[\w:<>*& ]+ (?=[\w:]+\()/, '').replace(/\(.*$/s, '');
    return JSON.stringify(name || base(place ?? 'FUNCTION'));
  });
  return `[[harness.races]]\nbetween = [${names.join(', ')}]\nreason = "…"`;
}
