// The parts of a page about a log: two-phase commit, in which the transaction manager commits too early.

import type { Report, RunHead, Shape, States } from '../src/data/types.ts';
import { type Entry, encodeChunk, encodeMessages, encodeOrder, encodeUnlogged, splices } from './encode.ts';

const PROCESSES = ['rm-0', 'rm-1', 'tm'];

interface Event {
  process: number;
  action: string;
  arg: string | null;
  fields: Record<string, unknown>;
}

const update = (path: string[], value: unknown) => [{ op: 'Update', path, args: [value] }];
const add = (value: unknown) => [{ op: 'AddElement', path: [], args: [value] }];

const EVENTS: Event[] = [
  {
    process: 0,
    action: 'RMPrepare',
    arg: 'rm-0',
    fields: { rmState: update(['rm-0'], 'prepared'), vc: { 'rm-0': 1 } },
  },
  { process: 2, action: 'TMRcvPrepared', arg: 'rm-0', fields: { tmPrepared: add('rm-0'), vc: { 'rm-0': 1, tm: 1 } } },
  {
    process: 1,
    action: 'RMPrepare',
    arg: 'rm-1',
    fields: { rmState: update(['rm-1'], 'prepared'), vc: { 'rm-1': 1 } },
  },
  { process: 0, action: 'Resend', arg: 'rm-0', fields: { vc: { 'rm-0': 2 } } },
  { process: 2, action: 'TMRcvPrepared', arg: 'rm-0', fields: { tmPrepared: add('rm-0'), vc: { 'rm-0': 2, tm: 2 } } },
  { process: 2, action: 'TMCommit', arg: null, fields: { tmState: update([], 'committed'), vc: { 'rm-0': 2, tm: 3 } } },
  { process: 0, action: 'RMRcvCommitMsg', arg: 'rm-0', fields: { rmState: update(['rm-0'], 'committed') } },
];

/** The event that no behavior gets past. */
export const BLOCKED = 5;
export const MESSAGES: [number, number][] = [
  [0, 1],
  [3, 4],
  [5, 6],
];
export const UNLOGGED = [
  { before: 2, action: 'Lose' },
  { before: 2, action: 'Lose' },
  { before: 5, action: 'Restart' },
];

const state = (first: string, second: string, prepared: string) => [
  `("rm-0" :> "${first}" @@ "rm-1" :> "${second}")`,
  '"init"',
  prepared,
];
const STATES = [
  state('working', 'working', '{}'),
  state('prepared', 'working', '{}'),
  state('prepared', 'working', '{"rm-0"}'),
  state('prepared', 'prepared', '{"rm-0"}'),
  state('prepared', 'prepared', '{"rm-0"}'),
  state('prepared', 'prepared', '{"rm-0"}'),
];
const VARIABLES = ['rmState', 'tmState', 'tmPrepared'];

/** The parts by name, not compressed. */
export function logParts(): Map<string, Uint8Array<ArrayBuffer>> {
  const shapes: Shape[] = [];
  const counts = PROCESSES.map(() => 0);
  const entries = EVENTS.map(({ process, action, arg, fields }, at): Entry => {
    const meta = ['line', ...Object.keys(fields)];
    const args = arg === null ? [] : [''];
    const pieces = arg === null ? [`${action}()`] : [`${action}(`, ')'];
    let shape = shapes.findIndex(known => known.action === action && known.meta.join() === meta.join());
    if (shape < 0) shape = shapes.push({ action, args, results: [], meta, pieces }) - 1;
    const index = counts[process]!;
    counts[process] = index + 1;
    // Arrays and objects are strings, as in Rust.
    const printed = Object.values(fields).map(value => JSON.stringify(JSON.stringify(value)));
    const values = [...(arg === null ? [] : [`"${arg}"`]), index + 2, ...printed];
    return { process, index, shape, values, start: at, end: at, from: at, to: at };
  });
  const stuck = EVENTS[BLOCKED]!;
  const report: Report = {
    schema: 'omnilink.report/2',
    history: { name: 'logs/bug', operations: EVENTS.length, processes: PROCESSES.length, cuts: [] },
    spec: { name: 'TwoPhase.tla', constants: [] },
    order: 'real-time',
    verdict: {
      kind: 'rejected',
      sentence: '5 of 7 events have an explanation, and none of them allows `TMCommit` (tm line 4) next',
      blocked: [0],
      explained: BLOCKED,
      evidence: {
        kind: 'stuck',
        states: [{ id: '5', variables: VARIABLES.map((name, at) => ({ name, value: STATES[BLOCKED]![at]! })) }],
        interpretations: [],
        reasons: [],
        expected: [],
        expects_more: false,
        legal: { kind: 'unknown' },
        what_ifs: [{ assumption: { kind: 'event-dropped', event: 0 }, outcome: { kind: 'accepted' } }],
        window: null,
      },
    },
    operations: [
      {
        name: 'tm:2',
        process: 'tm',
        text: `${stuck.action}()`,
        action: stuck.action,
        args: [],
        results: [],
        start: BLOCKED + 1,
        end: BLOCKED + 1,
        meta: [],
      },
    ],
    sources: [],
    stats: {
      method: 'searched best first',
      returned: BLOCKED,
      evaluations: 5,
      generated: 6,
      distinct: 6,
      widest: null,
      seconds: 0,
    },
    notes: [],
    next: [],
  };
  const head: RunHead = {
    schema: 'omnilink.page/1',
    kind: 'run',
    tool: 'OmniLink sample',
    report,
    run: null,
    timeline: {
      processes: PROCESSES,
      shapes,
      operations: EVENTS.length,
      origin: '1',
      ranks: EVENTS.length,
      chunks: [{ first: 0, count: EVENTS.length, ranks: [0, EVENTS.length - 1], times: [0, EVENTS.length - 1] }],
      steps: BLOCKED,
      orders: [{ first: 0, count: BLOCKED, rank: 0 }],
      mentioned: [BLOCKED],
      overview: { widths: [], flights: EVENTS.map(() => 1) },
      actions: [],
      long: [],
      messages: MESSAGES.length,
      unlogged: UNLOGGED.length,
    },
    served: null,
  };
  const states: States = {
    variables: VARIABLES,
    watched: 0,
    first: 0,
    until: BLOCKED,
    ids: STATES.map((_, at) => String(at)),
    last: STATES.at(-1)!,
    back: STATES.slice(1).map((next, at) => splices(next, STATES[at]!)),
    endings: [],
  };
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  return new Map([
    ['head', json(head)],
    ['states', json(states)],
    ['chunk-0', encodeChunk(entries, 0, 0)],
    ['order-0', encodeOrder(EVENTS.slice(0, BLOCKED).map((_, op) => ({ op, partway: false })))],
    ['messages', encodeMessages(MESSAGES)],
    ['unlogged', encodeUnlogged(UNLOGGED)],
  ]);
}
