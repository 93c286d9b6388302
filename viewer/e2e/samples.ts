// Data of generated pages that no golden report has: runs, campaigns, a comparison.

import type {
  Campaigns,
  Comparison,
  FailureCause,
  IndexHead,
  Report,
  RunHead,
  TestedObject,
} from '../src/data/types.ts';

/** Forty runs, of which every fourth was rejected. */
export function runs(): IndexHead['runs'] {
  return Array.from({ length: 40 }, (_, at) => ({
    id: `${at}`.padStart(6, 'a'),
    began: 1_750_000_000 + at * 3,
    // The first was made smaller.
    plan: { seed: at, threads: 3, operations: 13, perturb: [], ...(at === 0 ? { only: { 0: [1, 3], 2: [0] } } : {}) },
    command: ['queue'],
    ended: null,
    took: 0.1,
    spec: 'Queue.tla',
    verdict: at % 4 === 0 ? 'rejected' : 'accepted',
    cause: at % 4 === 0 ? 'elem = Head(queue) is FALSE, Queue.tla' : null,
    environment: { omnilink: '', system: '', processor: '', cores: 1 },
    page: at === 4 ? 'aaaaa4/report.html' : null,
    sentence: 'none of them allows `Dequeue` next',
  }));
}

const BEGAN = 1_794_800_000;

/** Six objects with new, known and rare causes. */
export function campaigns(): Campaigns {
  const commit = (at: number) =>
    at === 24 ? 'e41c9a2' : (0x51a2b3 * (at + 7)).toString(16).padStart(7, '0').slice(0, 7);
  const tested = (name: string, runs: number, failed: number, more: Partial<TestedObject>): TestedObject => ({
    name,
    spec: 'Queue.tla',
    how: 'controlled, random',
    campaigns: 30,
    runs,
    failed,
    operations: runs * 12,
    rate: [Math.max(0, failed / runs - 0.0044), failed / runs + 0.0045],
    recent: Array.from({ length: 30 }, (_, at) => ({
      at: BEGAN + at * 7200,
      commit: commit(at),
      runs: 400,
      failed: failed === 0 || (runs < 20_000 && at < 18) ? 0 : Math.round((failed / runs) * 400 * (1 + Math.sin(at))),
    })),
    verdict: failed > 0 ? 'fails' : 'passes',
    notes: [],
    coverage: [],
    never: [],
    ...more,
  });
  const overlaps = (actions: string[], shares: number[][]): TestedObject['coverage'] =>
    actions.map((action, at) => ({
      action,
      operations: 1000,
      overlapped: Math.min(1000, Math.max(...shares[at]!) * 10 + 50),
      with: Object.fromEntries(actions.map((other, to) => [other, shares[at]![to]! * 10])),
    }));
  const cause = (of: Partial<FailureCause>): FailureCause => ({
    kind: 'rejected',
    cause: '`queue = <<>>` is FALSE, Queue.tla:29',
    meets: null,
    object: 'ring-queue',
    runs: 723,
    of: 12_043,
    rate: [0.055, 0.066],
    first: { at: BEGAN + 24 * 7200, commit: commit(24) },
    last: { at: BEGAN + 29 * 7200, commit: commit(29) },
    is_new: false,
    known: null,
    run: null,
    ...of,
  });
  return {
    sentence: '1 new cause since commit e41c9a2, 2 known ones still there',
    since: 'commit e41c9a2',
    objects: [
      tested('ring-queue', 12_043, 727, {
        notes: ['1 new cause'],
        coverage: overlaps(
          ['Enqueue', 'Dequeue', 'DequeueEmpty', 'Len'],
          [
            [80, 90, 40, 0],
            [90, 60, 50, 0],
            [40, 50, 90, 0],
            [0, 0, 0, 0],
          ],
        ),
        never: ['Len'],
      }),
      tested('skiplist remove', 88_310, 21, { notes: ['1 known cause'], verdict: 'known', how: 'controlled, pos' }),
      tested('wiredtiger snapshot <img src=x onerror=alert(1)>', 4120, 0, {
        notes: ['no two operations overlapped', 'new schedules: 3 of the last 1000 runs'],
        how: 'free, 5 perturbations',
        coverage: overlaps(
          ['Begin', 'Commit'],
          [
            [0, 0],
            [0, 0],
          ],
        ),
      }),
      tested('etcd serializable', 960, 297, { verdict: 'known', how: 'free, faults: partition, kill' }),
      tested('two-phase', 214, 0, { verdict: 'inconclusive', notes: ['9 inconclusive runs'], how: 'logs' }),
      tested('moodycamel bulk', 41_207, 0, { notes: ['all schedules were explored'], how: 'controlled, dpor' }),
    ],
    causes: [
      cause({
        meets: 'main.rs:39 between main.rs:39 and main.rs:43 of another thread',
        is_new: true,
        run: 'aaaaa4',
      }),
      cause({ meets: 'main.rs:43 between main.rs:38 and main.rs:39 of another thread', runs: 30 }),
      cause({ cause: '`elem = Head(queue)` is FALSE, Queue.tla:25', runs: 22, run: 'gone00' }),
      cause({
        object: 'skiplist remove',
        cause: '`value = map[key]` is FALSE',
        runs: 9,
        of: 8830,
        known: { name: '#412', reason: 'the fix waits for `epoch` 2', until: '2026-12-01', is_expired: true },
      }),
      cause({ kind: 'stuck', object: 'skiplist remove', cause: 'T0 → T1 → T0 on `m1`, `m2`', runs: 3, of: 88_310 }),
    ],
  };
}

/** Another run whose operations differ from some of this report. */
export function comparison({ operations }: Report): Comparison {
  const rows = operations.map((operation, at): Comparison['rows'][number] => {
    const here = { text: operation.text, start: operation.start, end: operation.end, step: at + 1 };
    const there = { ...here, step: at % 3 === 0 ? at + 2 : at + 1 };
    if (at % 5 === 1) {
      const kind = operation.results.length > 0 ? 'results' : 'arguments';
      return { name: operation.name, kind, here, there: { ...there, text: operation.text.replace(/\d+/, '77') } };
    }
    if (at % 5 === 3) return { name: operation.name, kind: 'only-here', here: { ...here, step: null }, there: null };
    return { name: operation.name, kind: 'same', here, there };
  });
  rows.push({
    name: 'T9:0',
    kind: 'only-there',
    here: null,
    there: { text: 'Dequeue(<img src=x onerror=alert(1)>)', start: 9, end: null, step: null },
  });
  return {
    here: '34f9ca',
    there: '85cb2c',
    verdicts: ['rejected', 'accepted'],
    sentence: '`T1:3` returned 4 here and 5 there; the operations before it are the same.',
    same: 12,
    rows,
    left_out: 3,
  };
}

/** Faults before the failure, nanoseconds, and outcomes. */
export function withFaults({ report }: RunHead): void {
  const { start } = report.operations[0]!;
  report.clock = 'ns';
  report.history.events = [
    {
      name: 'partition',
      tag: 'nemesis',
      start: start - 2500,
      end: start - 1200,
      nodes: ['T0', 'T2'],
      text: 'n1 | n2 n3',
    },
    { name: 'kill -9', tag: 'operator', start: start - 600, end: start - 200, text: 'the leader was killed' },
  ];
  for (const operation of report.operations) if (operation.end === null) operation.outcome = 'blocked';
  report.operations[1]!.outcome = 'failed';
}
