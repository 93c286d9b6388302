// Operations that contradict each other, as a chain of sentences.

import { chain, type Link } from '../data/chain.ts';
import { duration } from '../data/clock.ts';
import type { OpRef, Report } from '../data/types.ts';
import { history } from '../state.ts';
import { Op } from './parts.tsx';
import { shortOf } from './words.ts';

export function Chain({ report, operations }: { report: Report; operations: OpRef[] }) {
  const links = chain(report, operations);
  return (
    <article class="card bad">
      <ol class="chain">
        {links.map(link => (
          <li>
            <Sides report={report} link={link} />
          </li>
        ))}
      </ol>
      <p>
        {links.length === 0 ? 'These operations contradict each other' : 'Together these contradict each other'},
        whatever else the history has.
      </p>
    </article>
  );
}

/** A link in words, by who did what. */
function Sides({ report, link: { from, to, kind } }: { report: Report; link: Link }) {
  const named = (op: OpRef) => <Op report={report} op={op} label={shortOf(report, op)} />;
  if (kind === 'value') {
    return (
      <>
        {named(to)} returned a value that {named(from)} brought
      </>
    );
  }
  if (kind === 'none') return <>{named(to)} returned a value that none of these brought</>;
  if (kind === 'process') {
    return (
      <>
        {named(from)} came before {named(to)}: both are of one process
      </>
    );
  }
  const gap = report.operations[to]!.start - report.operations[from]!.end!;
  return (
    <>
      {named(from)} had returned {duration(gap, history.value?.clock ?? null)} before {named(to)} began
    </>
  );
}
