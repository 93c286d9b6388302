// The parts of pages about histories at a level where operations need not see everything before them.

import { decodeChunk, decodeOrder } from '../src/data/decode.ts';
import type { RunHead, View } from '../src/data/types.ts';
import { queueParts } from './queue.ts';

export const LEVEL = 'linearizable, Dequeue=overlap';

/** The steps of the operation that missed others, and of these. */
export const MISSING = 15;
export const MISSED = [11, 13];

type Parts = Map<string, Uint8Array<ArrayBuffer>>;

/** An accepted history with one operation that missed two others. */
export function missedParts(): Parts {
  const parts = queueParts({ operations: 24, processes: 3, fails: false });
  const order = decodeOrder(parts.get('order-0')!).op;
  return edit(parts, ({ report, timeline }) => {
    const { chunks, ranks, shapes, processes, mentioned } = timeline!;
    const columns = decodeChunk(parts.get('chunk-0')!, chunks[0]!, ranks, shapes);
    const mention = (at: number) => {
      const process = processes[columns.process[at]!]!;
      const { action } = shapes[columns.shape[at]!]!;
      const text = `${action}(${columns.values(at)[0]})`;
      const [start, end] = [columns.start[at]!, columns.end[at]!];
      const name = `${process}:${columns.index[at]}`;
      mentioned.push(at);
      return report.operations.push({ name, process, text, action, args: [], results: [], start, end, meta: [] }) - 1;
    };
    const missed = MISSED.map(step => order[step]!);
    timeline!.missed = [[order[MISSING]!, missed]];
    const listed = { op: mention(order[MISSING]!), missed: missed.map(mention) };
    report.level = { name: LEVEL, missing: 1, missed: [listed] };
  });
}

/** A history that is rejected whatever its operations see. */
export function viewsParts(): Parts {
  return edit(queueParts({ operations: 300, processes: 3, fails: true }), ({ report }) => {
    const { verdict } = report;
    if (verdict.kind !== 'rejected' || verdict.evidence.kind !== 'stuck') throw new Error('expected a rejection');
    const op = verdict.blocked[0]!;
    const others = report.operations.map((_, other) => other).filter(other => other !== op);
    const view: View = {
      op,
      sees: 'may miss operations that overlap it',
      must_see: others.slice(0, 3),
      must_see_count: 40,
      may_miss: others.slice(3, 4),
      may_miss_count: 1,
      states: verdict.evidence.states,
      why: 'the head of the queue is another element',
    };
    const bare: View = { ...view, op: others[0]!, must_see: [], must_see_count: 0, may_miss: [], may_miss_count: 0 };
    const evidence = { kind: 'views' as const, views: [view, { ...bare, states: [], why: null }], holds: 'weak' };
    report.level = { name: LEVEL, missing: 0, missed: [] };
    report.verdict = {
      ...verdict,
      sentence: `nothing that ${report.operations[op]!.name} may see explains it`,
      evidence,
    };
  });
}

function edit(parts: Parts, change: (head: RunHead) => void): Parts {
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  change(head);
  return parts.set('head', new TextEncoder().encode(JSON.stringify(head)));
}
