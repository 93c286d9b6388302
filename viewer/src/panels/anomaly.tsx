// Isolation of transactions: the cycle as a picture beside the transactions, why each comes before the next, and the
// strongest levels.
//
// Choosing an edge, in the picture or in the list, marks the reads and writes that prove it.

import { signal } from '@preact/signals';
import { arc, type Point, ring } from '../data/ring.ts';
import type { AccessRef, Anomaly, Isolation, Precedes, Report } from '../data/types.ts';
import { verdictView } from '../data/verdict.ts';
import { brief, count, many } from '../text.ts';
import { showOp } from './local.ts';
import { OpButton, Section } from './parts.tsx';

/** The chosen edge. */
const chosen = signal<number | null>(null);

/** The word on an arrow. */
const WORDS: Record<Precedes['kind'], string> = {
  session: 'session',
  time: 'real time',
  read: 'was read by',
  version: 'older than',
  missed: 'missed',
  forced: 'seen before',
};
const ORDERS: Record<Report['order'], string> = {
  none: 'no order',
  program: 'session order',
  'real-time': 'real time',
};

/** The size of the picture, and of a transaction in it. */
const [WIDTH, HEIGHT, RADIUS] = [420, 250, 19];
/** Cycles of more transactions have no words on their arrows. */
const WORDY = 6;

/** The anomaly of a report; null for another verdict. */
function anomalyOf(report: Report): Anomaly | null {
  const verdict = verdictView(report);
  return verdict.kind === 'anomaly' ? verdict : null;
}

/** The cycle, and the transactions that take part. */
export function AnomalyPart({ report }: { report: Report }) {
  const anomaly = anomalyOf(report);
  if (!anomaly) return null;
  const total = report.history.operations;
  const taking = many(anomaly.transactions.length, 'transaction');
  return (
    <section class="happened" aria-labelledby="h-window">
      <h2>
        <span id="h-window">{anomaly.name}</span>
        <span class="note">
          {' '}
          · {taking}
          {total !== null && ` of ${count(total)}`}
        </span>
      </h2>
      <div class="card cycle" tabIndex={0} role="group" aria-label="Transactions that take part">
        {anomaly.edges.length > 0 && <Picture anomaly={anomaly} />}
        <ol class="txns">
          {anomaly.transactions.map((txn, at) => {
            const operation = report.operations[txn.op]!;
            return (
              <li>
                <b>{txn.label}</b>{' '}
                <OpButton name={operation.name} label={operation.name} width={24} act={() => showOp(txn.op)} />{' '}
                {txn.accesses.map((text, access) => (
                  <>
                    <Access text={text} is={markOf(anomaly, { transaction: at, access })} />{' '}
                  </>
                ))}
                {txn.has_more && '…'}
                {operation.outcome && <span class="quiet"> {operation.action}</span>}
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}

/** How an access is marked: it proves the chosen edge, or any. */
function markOf({ edges, accesses = [] }: Anomaly, ref: AccessRef): '' | 'cited' | 'now' {
  const has = (refs: AccessRef[] | undefined) =>
    refs?.some(each => each.transaction === ref.transaction && each.access === ref.access) ?? false;
  const edge = chosen.value === null ? undefined : edges[chosen.value];
  if (edge && has(edge.accesses)) return 'now';
  return has(accesses) || edges.some(each => has(each.accesses)) ? 'cited' : '';
}

function Access({ text, is }: { text: string; is: '' | 'cited' | 'now' }) {
  const shown = brief(text, 60);
  return is === '' ? <code>{shown}</code> : <mark class={is}>{shown}</mark>;
}

/** The cycle: transactions on a ring, and an arrow for each edge. */
function Picture({ anomaly: { transactions, edges, name } }: { anomaly: Anomaly }) {
  const members = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const points = ring(members.length, WIDTH, HEIGHT, RADIUS + 8);
  const at = (txn: number): Point => points[members.indexOf(txn)]!;
  const arcs = edges.map(({ from, to }) => arc(at(from), at(to), RADIUS + 3, members.length === 2));
  const words = edges.map(({ from, to }) => `${transactions[from]!.label} before ${transactions[to]!.label}`);
  const shown = (edge: number) => (chosen.value === edge ? 'edge chosen' : 'edge');
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Cycle of a ${name}: ${words.join(', ')}`}>
      <defs>
        <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 L8 4 L0 8 Z" fill="context-stroke" />
        </marker>
      </defs>
      {edges.map(({ kind }, edge) => {
        const { path, middle } = arcs[edge]!;
        return (
          // The list of reasons has a button for the same.
          <g class={`${shown(edge)} ${kind}`} onClick={() => choose(edge)}>
            <path d={path} class="wide" />
            <path d={path} marker-end="url(#tip)" />
            {edges.length <= WORDY && (
              <text x={middle[0]} y={middle[1] + 4}>
                {WORDS[kind]}
              </text>
            )}
          </g>
        );
      })}
      {members.map(txn => (
        <g class="txn">
          <circle cx={at(txn)[0]} cy={at(txn)[1]} r={RADIUS} />
          <text x={at(txn)[0]} y={at(txn)[1] + 5}>
            {transactions[txn]!.label}
          </text>
        </g>
      ))}
    </svg>
  );
}

function choose(edge: number): void {
  chosen.value = chosen.value === edge ? null : edge;
}

/** Why each transaction of the cycle comes before the next. */
export function Cycle({ report }: { report: Report }) {
  const anomaly = anomalyOf(report);
  if (!anomaly) return null;
  const { transactions, edges } = anomaly;
  return (
    <Section id="h-why" title={edges.length > 0 ? 'Why they come before each other' : 'Why no order explains it'}>
      <article class="card bad">
        {edges.length === 0 && <p>{brief(verdictSentence(report), 400)}</p>}
        <ol class="chain edges">
          {edges.map(({ from, to, reason }, edge) => (
            <li>
              <button type="button" class="conjunct" aria-pressed={chosen.value === edge} onClick={() => choose(edge)}>
                <b>
                  {transactions[from]!.label} → {transactions[to]!.label}
                </b>{' '}
                {brief(reason, 300)}
              </button>
            </li>
          ))}
        </ol>
      </article>
    </Section>
  );
}

function verdictSentence(report: Report): string {
  return report.verdict.kind === 'rejected' ? report.verdict.sentence : '';
}

/** The strongest levels for each order. */
export function Levels({ isolation }: { isolation: Isolation }) {
  if (isolation.strongest.length === 0) return null;
  return (
    <Section id="h-levels" title="Strongest levels">
      <table class="card levels">
        <tbody>
          {isolation.strongest.map(({ order, levels, undecided = [] }) => (
            <tr>
              <th scope="row">{ORDERS[order]}</th>
              <td>
                {levels.join(', ') || 'none'}
                {undecided.length > 0 && <span class="quiet"> (not decided: {undecided.join(', ')})</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** How much was checked, in a line. */
export function Checked({ report, isolation }: { report: Report; isolation: Isolation }) {
  const { operations, processes } = report.history;
  return (
    <p>
      {many(operations ?? 0, 'transaction')} of {many(processes, 'session')} with{' '}
      {many(isolation.accesses, 'read or write', 'reads and writes')}.
    </p>
  );
}
