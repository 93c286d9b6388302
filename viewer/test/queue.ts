// Generates the history of a faulty queue, and the parts of a page about it.
// Each operation takes effect at some point in its interval. One dequeue near the end gets an element ahead of its
// turn, and from there on no order explains the history. The same numbers give the same history.

import type { Field, Operation, Report, RunHead, State, States, Timeline } from '../src/data/types.ts';
import { type Entry, encodeChunk, encodeOrder, splices } from './encode.ts';

export interface Plan {
  operations: number;
  processes: number;
  /** False for a correct history. */
  fails: boolean;
  /** True if the last operation of every third process is unfinished. */
  stops?: boolean;
  /** The number of operations in a part. */
  chunk?: number;
}

/** Operations in a part by default, as written by Rust. */
const CHUNK = 16_384;
const STATES = 2_000;
/** Maximum number of overtaken elements; short histories have fewer. */
const AHEAD = 5;
const SHORT = 200;
const SOURCE = `---- MODULE Queue ----
EXTENDS Naturals, Sequences
VARIABLES queue, taken

Init == queue = <<>> /\\ taken = 0

Enqueue(elem) ==
    /\\ queue' = Append(queue, elem)
    /\\ UNCHANGED taken

Dequeue(elem) ==
    /\\ queue # <<>>
    /\\ Head(queue) = elem
    /\\ queue' = Tail(queue)
    /\\ taken' = taken + 1

DequeueEmpty ==
    /\\ queue = <<>>
    /\\ UNCHANGED <<queue, taken>>
====
`;

const SHAPES = [
  { action: 'Enqueue', args: ['elem'], results: [], meta: ['node'], pieces: ['Enqueue(', ')'] },
  { action: 'Dequeue', args: ['elem'], results: [], meta: ['node'], pieces: ['Dequeue(', ')'] },
  { action: 'DequeueEmpty', args: [], results: [], meta: ['node'], pieces: ['DequeueEmpty()'] },
];

interface Draft extends Entry {
  point: number;
}

/** The parts by name, not compressed. */
export function queueParts(plan: Plan): Map<string, Uint8Array<ArrayBuffer>> {
  const { entries, blocked } = run(plan);
  const size = plan.chunk ?? CHUNK;
  const long = plan.stops ? leaveOpen(entries, blocked) : [];
  const moments = [...new Set(entries.flatMap(({ start, end }) => (end === null ? [start] : [start, end])))].sort(
    (a, b) => a - b,
  );
  const rank = new Map(moments.map((time, i) => [time, i]));
  for (const entry of entries) {
    entry.from = rank.get(entry.start)!;
    entry.to = entry.end === null ? moments.length : rank.get(entry.end)!;
  }
  const stuck = blocked === null ? null : entries[blocked]!;
  const order = entries
    .map((_, at) => at)
    .filter(at => at !== blocked && (stuck === null || entries[at]!.point < stuck.end!))
    .sort((a, b) => entries[a]!.point - entries[b]!.point);
  const swap = stuck === null ? null : lastSwap(entries, order);
  const common = swap === null ? order : order.slice(0, swap);
  const endings: number[][] = [];
  if (stuck && swap !== null) {
    const rest = order.slice(swap);
    endings.push(rest, [rest[1]!, rest[0]!, ...rest.slice(2)]);
  } else if (stuck) endings.push([]);

  const walk = replay(entries, common);
  const ended = endings.map(steps => replay(entries, steps, walk.at(-1)!));
  const printed = (states: string[][]) => states.map(state => fingerprint(state.join('|')));
  const first = Math.max(0, common.length - STATES);
  const kept = walk.slice(first - walk.first);
  const states: States = {
    variables: ['queue', 'taken'],
    watched: 0,
    first,
    until: common.length,
    ids: printed(kept),
    last: kept.at(-1)!,
    back: kept.slice(1).map((state, i) => splices(state, kept[i]!)),
    endings: endings.map((steps, i) => ({
      steps: steps.map(op => ({ op, partway: false })),
      ids: printed(ended[i]!.slice(1)),
      forth: ended[i]!.slice(1).map((state, j) => splices(ended[i]![j]!, state)),
    })),
  };

  const parts = new Map<string, Uint8Array<ArrayBuffer>>();
  const chunks: Timeline['chunks'] = [];
  for (let at = 0; at < entries.length; at += size) {
    const slice = entries.slice(at, at + size);
    const closed = slice.filter(entry => entry.end !== null);
    const last = closed.reduce((a, b) => (b.to > a.to ? b : a), closed[0] ?? slice[0]!);
    const origin = moments[0]!;
    chunks.push({
      first: at,
      count: slice.length,
      ranks: [slice[0]!.from, last.to],
      times: [slice[0]!.start - origin, (last.end ?? last.start) - origin],
    });
    const shifted = slice.map(entry => ({
      ...entry,
      start: entry.start - origin,
      end: entry.end === null ? null : entry.end - origin,
    }));
    parts.set(`chunk-${chunks.length - 1}`, encodeChunk(shifted, slice[0]!.start - origin, slice[0]!.from));
  }
  const orders: Timeline['orders'] = [];
  let largest = 0;
  for (let at = 0; at < common.length; at += size) {
    const slice = common.slice(at, at + size);
    orders.push({ first: at, count: slice.length, rank: largest });
    parts.set(`order-${orders.length - 1}`, encodeOrder(slice.map(op => ({ op, partway: false }))));
    for (const op of slice) largest = Math.max(largest, entries[op]!.from);
  }

  const name = (at: number) => `T${entries[at]!.process}:${entries[at]!.index}`;
  const mentioned: number[] = [];
  const mention = (at: number): number => {
    if (!mentioned.includes(at)) mentioned.push(at);
    return mentioned.indexOf(at);
  };
  const finals = ended.map(walk => state(walk.at(-1)!));
  const verdict: Report['verdict'] =
    blocked === null || !stuck ? { kind: 'accepted' } : reject(entries, blocked, order, endings, finals, mention);
  const widest = entries.length === 0 ? null : mention(Math.floor(entries.length * 0.6));
  const report: Report = {
    schema: 'omnilink.report/2',
    history: { name: 'runs/queue.trace', operations: entries.length, processes: plan.processes, cuts: [] },
    spec: { name: 'specs/Queue.tla', constants: [{ name: 'Elements', value: `1..${entries.length}` }] },
    order: 'real-time',
    verdict,
    operations: mentioned.map(at => operation(entries[at]!, name(at))),
    sources: [{ path: 'specs/Queue.tla', text: SOURCE }],
    stats: {
      method: 'search over all orders',
      returned: order.length,
      evaluations: order.length * 9,
      generated: order.length * 3,
      distinct: order.length * 2,
      widest: widest === null ? null : { width: 183, at: widest, in_flight: [widest] },
      seconds: 0.8,
    },
    notes: [],
    next:
      blocked === null ? [] : [{ what: 'look around', line: `omnilink view runs/queue.trace --at ${name(blocked)}` }],
  };
  const counts = [0, 0, 0];
  for (const entry of entries) counts[entry.shape]! += 1;
  const head: RunHead = {
    schema: 'omnilink.page/1',
    kind: 'run',
    tool: 'OmniLink sample',
    report,
    run: null,
    timeline: {
      processes: Array.from({ length: plan.processes }, (_, i) => `T${i}`),
      shapes: SHAPES,
      operations: entries.length,
      origin: String(moments[0] ?? 0),
      ranks: moments.length,
      chunks,
      steps: common.length,
      orders,
      mentioned,
      overview: overview(entries, moments.length),
      actions: SHAPES.map((shape, i) => ({ name: shape.action, count: counts[i]! })),
      long,
    },
    served: null,
  };
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  parts.set('head', json(head));
  parts.set('states', json(states));
  return parts;
}

/** Operations by start, and the place of the dequeue that gets an element ahead of its turn. */
function run({ operations, processes, fails }: Plan): { entries: Draft[]; blocked: number | null } {
  const random = randomness(operations * 31 + processes);
  const free = Array.from({ length: processes }, () => 6_000_000 + Math.floor(random() * 400));
  const drafts: Draft[] = [];
  const calls = new Array<number>(processes).fill(0);
  for (let i = 0; i < operations; i += 1) {
    const process = free.indexOf(Math.min(...free));
    const start = free[process]!;
    const slow = random() < 0.01 ? 12 : 1 + 0.6 * Math.sin(i / Math.max(40, operations / 12));
    const end = start + 20 + Math.floor(random() * random() * 260 * slow);
    free[process] = end + 1 + Math.floor(random() * 200);
    const point = start + (end - start) * (0.1 + 0.8 * random());
    const index = calls[process]!;
    calls[process] = index + 1;
    drafts.push({ process, index, shape: random() < 0.52 ? 0 : 1, values: [], start, end, from: 0, to: 0, point });
  }
  const entries = drafts.sort((a, b) => a.start - b.start || a.process - b.process);
  const order = entries.map((_, at) => at).sort((a, b) => entries[a]!.point - entries[b]!.point);
  const queue: number[] = [];
  let next = 1;
  let blocked: number | null = null;
  const ahead = operations < SHORT ? 2 : AHEAD;
  const due = operations - Math.max(8, Math.min(40, Math.floor(operations / 4)));
  for (const [count, at] of order.entries()) {
    const entry = entries[at]!;
    const node = `"n${entry.process % 3}"`;
    if (entry.shape === 0) {
      entry.values = [next, node];
      queue.push(next);
      next += 1;
    } else if (
      fails &&
      blocked === null &&
      count >= due &&
      queue.length > ahead + 1 &&
      entry.end! - entry.start < 120
    ) {
      entry.values = [queue.splice(ahead, 1)[0]!, node];
      blocked = at;
    } else if (queue.length > 0) {
      entry.values = [queue.shift()!, node];
    } else {
      entry.shape = 2;
      entry.values = [node];
    }
    while (queue.length > 12) {
      // Turns enqueues into dequeues to keep the queue, and so the states, short.
      queue.pop();
      entry.shape = 1;
      entry.values = [queue.shift()!, node];
      next -= 1;
    }
  }
  return { entries, blocked };
}

/** Makes the last operation of every third process unfinished, and returns their places. */
function leaveOpen(entries: Draft[], blocked: number | null): number[] {
  const last = new Map(entries.map(({ process }, at) => [process, at]));
  const places = [...last].filter(([process, at]) => process % 3 === 0 && at !== blocked).map(([, at]) => at);
  for (const at of places) entries[at]!.end = null;
  return places.sort((a, b) => a - b);
}

/** Where the last two enqueues that overlap are adjacent in the order. */
function lastSwap(entries: Draft[], order: number[]): number | null {
  for (let i = order.length - 2; i > Math.max(0, order.length - 30); i -= 1) {
    const [a, b] = [entries[order[i]!]!, entries[order[i + 1]!]!];
    if (a.shape === 0 && b.shape === 0 && b.start <= (a.end ?? b.start) && a.start <= (b.end ?? a.start)) return i;
  }
  return null;
}

/** The states along an order, as printed values; unneeded ones are omitted. */
function replay(entries: Draft[], order: number[], from: string[] = ['<<>>', '0']): string[][] & { first: number } {
  const queue = from[0] === '<<>>' ? [] : from[0]!.slice(2, -2).split(', ').map(Number);
  let taken = Number(from[1]);
  const first = Math.max(0, order.length - STATES);
  const states = [] as unknown as string[][] & { first: number };
  states.first = first;
  const print = () => [queue.length === 0 ? '<<>>' : `<<${queue.join(', ')}>>`, String(taken)];
  if (first === 0) states.push(print());
  for (const [count, at] of order.entries()) {
    const { shape, values } = entries[at]!;
    if (shape === 0) queue.push(values[0] as number);
    if (shape === 1) {
      queue.splice(Math.max(0, queue.indexOf(values[0] as number)), 1);
      taken += 1;
    }
    if (count + 1 >= first) states.push(print());
  }
  return states;
}

function reject(
  entries: Draft[],
  blocked: number,
  order: number[],
  endings: number[][],
  finals: State[],
  mention: (at: number) => number,
): Report['verdict'] {
  const stuck = entries[blocked]!;
  const elem = String(stuck.values[0]);
  const op = mention(blocked);
  const placed = new Set(order);
  const next = new Map<number, number>();
  for (let at = 0; at < entries.length; at += 1) {
    const { process } = entries[at]!;
    if (!placed.has(at) && at !== blocked && !next.has(process) && process !== stuck.process) next.set(process, at);
  }
  const heads = finals.map(({ variables }) => variables[0]!.value.slice(2, -2).split(', ')[0]!);
  const all = finals.map((_, i) => i);
  const conjunct = (
    text: string,
    outcome: 'true' | 'false' | 'not-reached',
    values: [string, (string | null)[]][],
  ) => ({
    span: span(text),
    text,
    outcomes: all.map(() => outcome),
    values: values.map(([text, values]) => ({ text, values })),
  });
  const later = entries.findIndex((entry, at) => at > blocked && entry.shape === 1);
  return {
    kind: 'rejected',
    sentence: `${name(stuck)} cannot happen: the head of the queue is ${[...new Set(heads)].join(' or ')}.`,
    blocked: [op],
    explained: order.length,
    evidence: {
      kind: 'stuck',
      states: finals,
      interpretations: endings.map((steps, i) => ({
        state: i,
        recent: steps.map(at => ({ op: mention(at), partway: false })),
      })),
      reasons: [
        {
          op,
          states: all,
          why: {
            kind: 'guard',
            action: 'Dequeue',
            span: span('Dequeue(elem) =='),
            ways: 1,
            choices: [],
            conjuncts: [
              conjunct('queue # <<>>', 'true', [['queue', finals.map(state => state.variables[0]!.value)]]),
              conjunct('Head(queue) = elem', 'false', [
                ['Head(queue)', heads],
                ['elem', all.map(() => elem)],
              ]),
              conjunct("queue' = Tail(queue)", 'not-reached', []),
            ],
          },
        },
        ...[...next.values()].map(at => ({
          op: mention(at),
          states: all,
          why: { kind: 'time' as const, after: op },
        })),
      ],
      expected: [...new Set(heads)].map(value => [{ name: 'elem', value }]),
      expects_more: false,
      legal: later < 0 ? { kind: 'never', looked_at: 64 } : { kind: 'later', after: mention(later) },
      what_ifs: [
        { assumption: { kind: 'dropped' }, outcome: { kind: 'accepted' } },
        {
          assumption: { kind: 'other-results', results: [{ name: 'elem', value: heads[0]! }] },
          outcome: { kind: 'rejected', blocked: null, explained: order.length + 3 },
        },
        { assumption: { kind: 'program-order' }, outcome: { kind: 'inconclusive', stop: 'out of time' } },
      ],
      window: {
        start: finals.slice(0, 1),
        operations: [...order.slice(-5), blocked].sort((a, b) => a - b).map(mention),
        before: Math.max(0, order.length - 5),
      },
    },
  };
}

function span(text: string) {
  const start = SOURCE.indexOf(text);
  return { source: 0, start, end: start + text.length };
}

function name(entry: Entry): string {
  return `T${entry.process}:${entry.index}`;
}

function operation(entry: Entry, name: string): Operation {
  const shape = SHAPES[entry.shape]!;
  const fields: Field[] = [...shape.args, ...shape.results, ...shape.meta].map((name, i) => ({
    name,
    value: String(entry.values[i]),
  }));
  const args = fields.slice(0, shape.args.length);
  return {
    name,
    process: `T${entry.process}`,
    text: `${shape.action}(${args.map(arg => arg.value).join(', ')})`,
    action: shape.action,
    args,
    results: [],
    start: entry.start,
    end: entry.end,
    meta: fields.slice(shape.args.length),
  };
}

function state(values: string[]): State {
  const variables = ['queue', 'taken'].map((name, i) => ({ name, value: values[i]! }));
  return { id: fingerprint(values.join('|')), variables };
}

function overview(entries: Draft[], ranks: number): Timeline['overview'] {
  const buckets = Math.min(2048, Math.max(1, ranks));
  const change = new Int32Array(ranks + 2);
  for (const entry of entries) {
    change[entry.from]! += 1;
    change[entry.to + 1]! -= 1;
  }
  const flights = new Array<number>(buckets).fill(0);
  let flying = 0;
  for (let rank = 0; rank < ranks; rank += 1) {
    flying += change[rank]!;
    const bucket = Math.floor((rank * buckets) / ranks);
    flights[bucket] = Math.max(flights[bucket]!, flying);
  }
  const random = randomness(7);
  return { widths: flights.map(flight => Math.ceil(2 ** (flight * (0.4 + 0.5 * random())))), flights };
}

function fingerprint(text: string): string {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

function randomness(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
