// The page data, as written by Rust: `omnilink.page/1`, which contains `omnilink.report/2`. `crates/page` and `crates/report`
// say what each field is; here is only what their names do not say. Nothing here is computed in the browser.

export type Head = RunHead | IndexHead;

export interface RunHead {
  schema: 'omnilink.page/1';
  kind: 'run';
  tool: string;
  report: Report;
  /** Assumptions of the verdict, such as `T0:12 < T3:7`; may be empty. Absent in older pages. */
  assumed?: string[];
  /** The kept run; null if the page is not about one. */
  run: Run | null;
  /** The seed in decimal digits: it may be too large for the number in `run`. */
  seed?: string | null;
  /** Null if the page has only the report; then its operations are the whole history. */
  timeline: Timeline | null;
  /** Null in a file. */
  served: Served | null;
  /** Absent if no other run was asked for. */
  compared?: Comparison | null;
}

export interface Comparison {
  here: string;
  there: string;
  verdicts: [here: string, there: string];
  sentence: string;
  same: number;
  /** By start; contains the same ones near differences. */
  rows: ComparedRow[];
  /** The number of rows that were left out: they are the same, or too many. */
  left_out: number;
}

export interface ComparedRow {
  name: string;
  kind: 'same' | 'results' | 'arguments' | 'only-here' | 'only-there';
  here: ComparedOperation | null;
  there: ComparedOperation | null;
}

export interface ComparedOperation {
  text: string;
  start: number;
  end: number | null;
  step: number | null;
}

export interface Served {
  /** Checks assumptions: requests for parts may carry `assume=T0:12 < T3:7`. */
  assume: boolean;
  /** Evaluates TLA+ expressions: requests for `states` may carry `watch=Len(queue)`. */
  evaluate: boolean;
}

export interface IndexHead {
  schema: 'omnilink.page/1';
  kind: 'index';
  tool: string;
  name: string;
  /** Sorted by start time. `page` is a relative link to the page of the run; null if it has none. */
  runs: (Run & { page: string | null; sentence: string | null })[];
  damaged: string[];
  /** Absent in older pages; null if the store has no campaigns. */
  overview?: Campaigns | null;
  /** What a monitor saw so far; absent on other pages. */
  monitor?: Monitored | null;
}

export interface Monitored {
  spec: string;
  operations: number;
  checked: number;
  violations: number;
  /** Operations that nothing was decided about, that were lost, and that came too late. */
  undecided: number;
  lost: number;
  late: number;
  keys: number;
  /** How far behind it is, such as `1.1s`. */
  lag: string;
  /** The latest, newest first. `page` is a relative link; null if there is no page. */
  alerts: { at: number; kind: string; key: string; sentence: string; page: string | null }[];
  /** Violations of the same kind, each with the last sentence about one, most frequent first. */
  causes: { sentence: string; violations: number }[];
  /** What was checked and found since the entry before, oldest first. */
  recent: { at: number; checked: number; violations: number }[];
  widest: { key: string; operations: number }[];
}

/** What the campaigns of a store found, over time. Code in sentences is in backticks. */
export interface Campaigns {
  /** Such as `1 new cause since commit e41c9a2, 2 known ones still there`. */
  sentence: string;
  /** New causes are new since this: `commit e41c9a2` or `2026-11-16 10:00`; null if nothing was asked for. */
  since: string | null;
  objects: TestedObject[];
  /** New ones first, then by number of runs. */
  causes: FailureCause[];
}

export interface TestedObject {
  name: string;
  spec: string;
  how: string;
  campaigns: number;
  runs: number;
  failed: number;
  operations: number;
  /** The 95 % interval of the share of failing runs, from 0 to 1. */
  rate: [low: number, high: number];
  /** At most 30, oldest first. */
  recent: RecentCampaign[];
  verdict: 'fails' | 'known' | 'passes' | 'inconclusive';
  notes: string[];
  /** How many operations of each action overlapped any other, and those of each action. */
  coverage: { action: string; operations: number; overlapped: number; with: Record<string, number> }[];
  never: string[];
}

export interface RecentCampaign extends Sighting {
  runs: number;
  failed: number;
}

export interface Sighting {
  /** Seconds since 1970. */
  at: number;
  commit: string | null;
}

export interface FailureCause {
  /** Such as `rejected`, `crashed`, `stuck` or `data race`. */
  kind: string;
  cause: string;
  /** The steps that meet: `main.rs:39 between main.rs:39 and main.rs:43 of another thread`; null if unknown. */
  meets: string | null;
  object: string;
  runs: number;
  of: number;
  /** The 95 % interval of their share, from 0 to 1. */
  rate: [low: number, high: number];
  first: Sighting;
  last: Sighting;
  is_new: boolean;
  known: { name: string; reason: string; until: string | null; is_expired: boolean } | null;
  /** The id of the smallest kept run with this cause; null if none was kept. */
  run: string | null;
}

export interface Timeline {
  processes: string[];
  shapes: Shape[];
  operations: number;
  /** The earliest time, in decimal digits. Times in chunks count from it. */
  origin: string;
  /** The number of distinct times. Ranks are indices into them. */
  ranks: number;
  /** Sorted by start; all but the last have the same length. */
  chunks: Chunk[];
  /** The number of steps common to all interpretations. */
  steps: number;
  /** The parts that hold these steps; all but the last have the same length. */
  orders: OrderChunk[];
  mentioned: number[];
  overview: Overview;
  /** How often each action occurred, most frequent first; includes actions that never occurred. */
  actions: { name: string; count: number }[];
  /** Unfinished operations and the longest ones, which span many chunks. Places, in increasing order. */
  long: number[];
  /** The number of messages in the part `messages`. Absent if there are none. */
  messages?: number;
  /** The number of steps in the part `unlogged`. Absent if there are none. */
  unlogged?: number;
  /** Operations that did not see some operations before them, each with all of these. Absent if there are none. */
  missed?: [op: number, missed: number[]][];
  /** The number of such operations that `missed` leaves out, because there are too many. Absent if there are none. */
  missed_left_out?: number;
}

/** How operations of one kind are printed: `pieces[0] + value 0 + pieces[1] + …`, without the values of `meta`. */
export interface Shape {
  action: string;
  args: string[];
  results: string[];
  meta: string[];
  pieces: string[];
}

/** The part `chunk-K`: operations `first .. first + count`. */
export interface Chunk {
  first: number;
  count: number;
  /** The first start and the last end, as ranks, of operations not in `long`. */
  ranks: [number, number];
  /** The same as times since `origin`. */
  times: [number, number];
}

/** The part `order-K`: steps `first .. first + count`. */
export interface OrderChunk {
  first: number;
  count: number;
  /** The largest start, as a rank, of all earlier steps: a step takes effect no earlier than any before it. */
  rank: number;
}

/** The whole history in at most 2,048 buckets with the same number of ranks each. */
export interface Overview {
  /** Maximum number of simultaneous configurations per bucket; empty if unknown. */
  widths: number[];
  /** Maximum number of operations in flight per bucket. */
  flights: number[];
}

export interface States {
  variables: string[];
  /** How many of the last variables are watched expressions. */
  watched: number;
  /** The number of common steps before the first state. */
  first: number;
  /** The number of common steps before the last state: all, unless an earlier range was requested. */
  until: number;
  /** The fingerprints of states `first ..= until`. */
  ids: string[];
  last: string[];
  /** Splices that turn state `first + i + 1` into state `first + i`. */
  back: Splice[][];
  /** How interpretations continue, in the order of `report.verdict.interpretations`; not all if there are many. If an
   * earlier range was requested, they have steps only. */
  endings: Ending[];
}

export interface Ending {
  steps: { op: number; partway: boolean }[];
  ids: string[];
  /** Splices from the last common state to the state after the first step, from that to the next, and so on. */
  forth: Splice[][];
}

/** Variable, lengths of the kept prefix and suffix (in UTF-16 units), and the text between them. */
export type Splice = [variable: number, front: number, back: number, insert: string];

// A kept run.

export interface Run {
  id: string;
  /** Seconds since 1970. */
  began: number;
  plan: Plan;
  command: string[];
  ended: unknown;
  /** Its first data race: the accesses, the earlier one first. */
  race?: { accesses: RacedAccess[] } | null;
  took: number;
  spec: string;
  verdict: string | null;
  cause: string | null;
  /** `smaller_than` is the run that it was made from. Absent if its schedule was not controlled. */
  controlled?: { smaller_than?: string | null } | null;
  environment: { omnilink: string; system: string; processor: string; cores: number };
}

export interface RacedAccess {
  /** In order of creation; 0 is the main thread. */
  thread: number;
  operation?: string | null;
  /** `writes`, `reads`, the same atomically, or `frees`. */
  does: string;
  /** The number of steps before it. */
  after_step: number;
  /** Functions and places, innermost first: `Queue::get() at main.cpp:16`. */
  stack: string[];
}

export interface Plan {
  seed: number;
  /** 0 for a program that takes no input. */
  threads: number;
  operations: number;
  perturb: string[];
  /** The operations of each thread, if not all: those of a run that was made smaller. */
  only?: Record<string, number[]> | null;
  /** The calls, if the input names each of them: then the numbers above do not matter. */
  test?: unknown;
}

// The report, as `omnilink check --format json` prints it.

export interface Report {
  schema: string;
  history: {
    name: string;
    operations: number | null;
    processes: number;
    cuts: string[];
    /** Faults and annotations, such as a partition. */
    events?: HistoryEvent[] | null;
  };
  spec: { name: string; constants: Field[] };
  order: 'real-time' | 'program' | 'none';
  /** The unit of times: nanoseconds, or steps of a controlled execution. Absent or null if unknown. */
  clock?: 'ns' | 'steps' | null;
  /** Absent if every operation has to see everything before it. */
  level?: Level | null;
  /** Absent unless the operations are transactions that were checked without a specification. */
  isolation?: Isolation | null;
  verdict: Verdict;
  operations: Operation[];
  sources: { path: string; text: string }[];
  stats: Stats;
  notes: string[];
  tags?: string[];
  next: { what: string; line: string }[];
  coverage?: Coverage | null;
  /** The keys that are not accepted, if keys were checked separately. */
  keys?: {
    all: number;
    rejected: { key: string; operations: number; sentence: string }[];
    undecided?: string[];
  } | null;
  /** How the run ended, if not normally or with a data race. */
  ended?: string | null;
  interleaving?: Interleaving | null;
  /** The serial run that comes closest, if the specification is the serial runs of an object. */
  closest_run?: ClosestRun | null;
}

export interface ClosestRun {
  sentence: string;
  calls: TestedCall[];
  /** The serial run: indices into the calls. It ends early if a call blocks. */
  order: number[];
}

export interface TestedCall {
  process: string;
  call: string;
  /** Only the order of times counts. */
  start: number;
  /** Null if it blocks. */
  end: number | null;
  /** ` = 200` or ` blocks`; empty if it returned nothing. */
  answer: string;
  /** Its answer in the serial run, if that is another one. */
  serial?: string | null;
}

/** A fault or an annotation, on the clock of the operations. */
export interface HistoryEvent {
  name: string;
  start: number;
  /** Absent if it has no duration. */
  end?: number | null;
  /** The processes that it concerns; all if absent. */
  nodes?: string[] | null;
  text: string;
  tag?: string | null;
}

export interface Interleaving {
  threads: string[];
  steps: InterleavedStep[];
  total: number;
  waits?: string[];
  preemptions: number;
  necessary?: string | null;
  /** Parts of the user's files, around the steps. `path` is as in places, `first` counts from 1. */
  sources?: { path: string; first: number; lines: string[] }[];
}

export interface InterleavedStep {
  number: number;
  /** An index into `threads`. */
  thread: number;
  kind: 'call' | 'return' | 'inside';
  text: string;
  does?: string;
  value?: string | null;
  place?: string | null;
  function?: string | null;
  preempts?: boolean;
  /** Without that switch, the run does not fail. */
  needed?: boolean;
  meets?: boolean;
  fails?: boolean;
}

/** A level at which operations need not see everything before them. */
export interface Level {
  name: string;
  /** The number of operations that missed something, if the history is accepted. */
  missing: number;
  /** The first of them, each with the first operations that it missed. */
  missed: { op: OpRef; missed: OpRef[] }[];
}

export interface Coverage {
  actions: { name: string; parts: CoveredPart[] }[];
  steps: number;
  is_cut_off: boolean;
}

export interface CoveredPart {
  kind: 'guard' | 'branch' | 'condition';
  path: string;
  line: number;
  text: string;
  taken: number;
  refused: number;
}

export type Verdict =
  | { kind: 'accepted' }
  | ({ kind: 'rejected' } & Rejection)
  | { kind: 'inconclusive'; limit: Limit; stop: string };

export type Limit = 'time' | 'memory' | 'width' | 'interrupt' | 'incomplete';

/** An index into `Report.operations`. */
export type OpRef = number;

export interface Rejection {
  /** What happened. Code is in backticks. */
  sentence: string;
  details?: string;
  blocked: OpRef[];
  explained: number;
  evidence: Evidence;
}

export type Evidence =
  | ({ kind: 'stuck' } & Stuck)
  | { kind: 'contradiction'; operations: OpRef[] }
  | ({ kind: 'invariant' } & Broken)
  | ({ kind: 'views' } & Views)
  | ({ kind: 'anomaly' } & Anomaly);

/** The isolation level of transactions, and the levels that hold. */
export interface Isolation {
  level: string;
  /** The number of reads and writes of all transactions. */
  accesses: number;
  /** For each order; empty if they were not searched for. */
  strongest: { order: Report['order']; levels: string[]; undecided?: string[] }[];
}

/** Transactions that no order explains at the level. */
export interface Anomaly {
  name: string;
  transactions: { label: string; op: OpRef; accesses: string[]; has_more?: boolean }[];
  /** Empty if one read is wrong by itself, or if no cycle is common to all orders. */
  edges: Precedes[];
  /** The accesses that show it, besides those of edges. */
  accesses?: AccessRef[];
}

/** A transaction comes before another one. Both are indices into the transactions of the anomaly. */
export interface Precedes {
  from: number;
  to: number;
  kind: 'session' | 'time' | 'read' | 'version' | 'missed' | 'forced';
  reason: string;
  /** The accesses that prove it. */
  accesses?: AccessRef[];
}

/** A read or a write: an index into the transactions of the anomaly, and one into its accesses. */
export interface AccessRef {
  transaction: number;
  access: number;
}

export interface Views {
  views: View[];
  holds: string | null;
}

export interface View {
  op: OpRef;
  sees: string;
  must_see: OpRef[];
  must_see_count: number;
  may_miss: OpRef[];
  may_miss_count: number;
  states: State[];
  /** Why the first of these states does not explain its results. */
  why: string | null;
}

/** States in which the expressions of the false conjuncts have the same values. */
export interface StateGroup {
  values: { name: string; value: string }[];
  /** Indices into the states of the evidence; at least one. */
  states: number[];
}

export interface Stuck {
  states: State[];
  /** The states grouped by what decides. Absent in older reports. */
  groups?: StateGroup[] | null;
  interpretations: { state: number; recent: { op: OpRef; partway: boolean }[] }[];
  reasons: Reason[];
  expected: Field[][];
  expects_more: boolean;
  legal: Legal;
  what_ifs: { assumption: Assumption; outcome: Consequence }[];
  window: Window | null;
}

export interface Window {
  start: State[];
  operations: OpRef[];
  before: number;
}

export interface State {
  id: string;
  variables: Field[];
}

export interface Reason {
  op: OpRef;
  states: number[];
  why: Why;
}

export type Why =
  | { kind: 'time'; after: OpRef }
  | ({ kind: 'guard' } & Guard)
  | { kind: 'words'; text: string }
  | { kind: 'excluded'; name: string; span: Span }
  | { kind: 'error'; message: string; span: Span | null }
  | { kind: 'dead' };

export interface Guard {
  action: string;
  span: Span;
  ways: number;
  choices: Field[];
  conjuncts: Conjunct[];
}

export interface Conjunct {
  span: Span;
  text: string;
  outcomes: Outcome[];
  values: { text: string; values: (string | null)[] }[];
}

export type Outcome = 'true' | 'false' | 'not-reached' | { chose: boolean } | { error: string };

export type Legal =
  | { kind: 'earlier'; until: OpRef }
  | { kind: 'later'; after: OpRef }
  | { kind: 'never'; looked_at: number }
  | { kind: 'unknown' };

export type Assumption =
  | { kind: 'other-results'; results: Field[] }
  | { kind: 'dropped' }
  | { kind: 'program-order' }
  | { kind: 'event-dropped'; event: OpRef }
  | { kind: 'step-inserted'; action: string; before: OpRef }
  | { kind: 'not-complete'; variable: string }
  | { kind: 'other-field'; event: OpRef; field: string }
  | { kind: 'field-ignored'; event: OpRef; field: string }
  | { kind: 'exchanged'; first: OpRef; second: OpRef };

export type Consequence =
  | { kind: 'accepted' }
  | { kind: 'rejected'; blocked: OpRef | null; explained: number }
  | { kind: 'inconclusive'; stop: string };

export interface Broken {
  invariant: string;
  span: Span;
  states: State[];
  /** The operations whose step makes the invariant false, each in one of the orders. */
  broke?: OpRef[] | null;
  conjuncts: Conjunct[];
}

export interface Operation {
  name: string;
  process: string;
  text: string;
  action: string;
  args: Field[];
  results: Field[];
  /** Times beyond 2^53 are rounded: different times may appear equal, but times that differ here are in order. */
  start: number;
  end: number | null;
  meta: Field[];
  /** How it ended: it did not return, it waits for ever, or it failed. Absent if it returned. */
  outcome?: 'unfinished' | 'blocked' | 'failed';
}

export interface Field {
  name: string;
  value: string;
}

export interface Span {
  source: number;
  start: number;
  end: number;
}

export interface Stats {
  method: string;
  returned: number;
  evaluations: number;
  generated: number;
  distinct: number;
  widest: { width: number; at: OpRef | null; in_flight: OpRef[] } | null;
  seconds: number;
}
