// The data that a page is made from, as Rust writes it: `omnilink.page/1` around `omnilink.report/2`.
// Strings, numbers and places only. Nothing here is computed in the browser.

/** What stands in the part `head`. */
export type Head = RunHead | IndexHead;

/** A page about one history. */
export interface RunHead {
  schema: 'omnilink.page/1';
  kind: 'run';
  /** What wrote it, such as `OmniLink 0.1.0`. */
  tool: string;
  report: Report;
  /** What the verdict was checked under, such as `T0:12 < T3:7`; empty if nothing was assumed. Older pages lack it. */
  assumed?: string[];
  /** The run that was kept, if it was one. */
  run: Run | null;
  /** Its seed in decimal digits: it may be too large for the number in `run`. */
  seed?: string | null;
  /** Null if only the report is at hand: then the operations that it speaks of are all there are. */
  timeline: Timeline | null;
  /** Null in a file. */
  served: Served | null;
}

/** What a server can do that a file cannot. */
export interface Served {
  /** Assumptions are checked: parts may be asked for with `assume=T0:12 < T3:7`. */
  assume: boolean;
  /** TLA+ expressions are evaluated: `states` may be asked for with `watch=Len(queue)`. */
  evaluate: boolean;
}

/** A page about many runs. */
export interface IndexHead {
  schema: 'omnilink.page/1';
  kind: 'index';
  tool: string;
  /** How the directory is called. */
  name: string;
  /** By the time they began. `page` is a relative link to the page of the run, null if it has none. */
  runs: (Run & { page: string | null; sentence: string | null })[];
  /** Why some are missing. */
  damaged: string[];
}

export interface Timeline {
  processes: string[];
  shapes: Shape[];
  /** How many operations there are. */
  operations: number;
  /** The earliest time, in decimal digits. Times in chunks count from it. */
  origin: string;
  /** How many different times there are. Ranks are places among them. */
  ranks: number;
  /** By start, all but the last equally long. */
  chunks: Chunk[];
  /** How many steps all explanations have in common. */
  steps: number;
  /** The parts that these steps stand in, all but the last equally long. */
  orders: OrderChunk[];
  /** The place of each of `report.operations`. */
  mentioned: number[];
  overview: Overview;
  /** How often each action happened, those first that happened most; also those that could have happened and did not. */
  actions: { name: string; count: number }[];
  /** Operations that never finished, and those that ran longest: they cross many chunks. Places, increasing. */
  long: number[];
}

/** How operations of one kind look. The text is `pieces[0] + value 0 + pieces[1] + …`; values of `meta` are not in it. */
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
  /** The first start and the last end, as ranks; of those that are not in `long`. */
  ranks: [number, number];
  /** The same as times since `origin`. */
  times: [number, number];
}

/** The part `order-K`: steps `first .. first + count`. */
export interface OrderChunk {
  first: number;
  count: number;
  /** The largest start, as a rank, of the steps before: a step takes effect no earlier than any before it. */
  rank: number;
}

/** The whole history in at most 2,048 buckets of equally many ranks. */
export interface Overview {
  /** The most configurations that were possible at once; empty if that is not known. */
  widths: number[];
  /** The most operations in flight at once. */
  flights: number[];
}

/** What stands in the part `states`. */
export interface States {
  variables: string[];
  /** So many of the last of them are expressions that somebody asked for. */
  watched: number;
  /** How many of the common steps come before the first state. */
  first: number;
  /** How many come before the last state: all of them, unless somebody asked for an earlier stretch. */
  until: number;
  /** The fingerprints of states `first ..= until`. */
  ids: string[];
  /** The values of the last of them. */
  last: string[];
  /** What turns state `first + i + 1` back into state `first + i`. */
  back: Splice[][];
  /** How interpretations go on, in the order of `report.verdict.interpretations`; not all if there are many. If an earlier
   * stretch was asked for, they have steps only. */
  endings: Ending[];
}

export interface Ending {
  steps: { op: number; partway: boolean }[];
  ids: string[];
  /** What turns the last common state into the one after the first step, that into the next, and so on. */
  forth: Splice[][];
}

/** Variable, how much of the beginning and of the end stays (in UTF-16 units), and what stands between then. */
export type Splice = [variable: number, front: number, back: number, insert: string];

// A kept run.

export interface Run {
  id: string;
  /** Seconds since 1970. */
  began: number;
  plan: { seed: number; threads: number; operations: number; perturb: string[] };
  command: string[];
  ended: unknown;
  took: number;
  spec: string;
  verdict: string | null;
  cause: string | null;
  environment: { omnilink: string; system: string; processor: string; cores: number };
}

// The report, as `omnilink check --format json` prints it.

export interface Report {
  schema: string;
  history: { name: string; operations: number | null; processes: number; cuts: string[] };
  spec: { name: string; constants: Field[] };
  order: 'real-time' | 'program';
  verdict: Verdict;
  operations: Operation[];
  sources: { path: string; text: string }[];
  stats: Stats;
  notes: string[];
  /** Names of known failures that this is one of. */
  tags?: string[];
  next: { what: string; line: string }[];
  /** What of the specification was exercised, if that was asked for. */
  coverage?: Coverage | null;
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

export type Limit = 'time' | 'memory' | 'width' | 'interrupt';

/** A place in `Report.operations`. */
export type OpRef = number;

export interface Rejection {
  sentence: string;
  blocked: OpRef[];
  explained: number;
  evidence: Evidence;
}

export type Evidence =
  | ({ kind: 'stuck' } & Stuck)
  | { kind: 'contradiction'; operations: OpRef[] }
  | ({ kind: 'invariant' } & Broken);

export interface Stuck {
  states: State[];
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

export type Assumption = { kind: 'other-results'; results: Field[] } | { kind: 'dropped' } | { kind: 'program-order' };

export type Consequence =
  | { kind: 'accepted' }
  | { kind: 'rejected'; blocked: OpRef | null; explained: number }
  | { kind: 'inconclusive'; stop: string };

export interface Broken {
  invariant: string;
  span: Span;
  states: State[];
  conjuncts: Conjunct[];
}

export interface Operation {
  name: string;
  process: string;
  text: string;
  action: string;
  args: Field[];
  results: Field[];
  /** Beyond 2^53, times are rounded here: equal ones need not be equal, and only different ones are in order. */
  start: number;
  end: number | null;
  meta: Field[];
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
