// Two tabs: coverage of the specification by the history, and cost of the search.

import type { Coverage, CoveredPart, Report } from '../data/types.ts';
import { history, report, setScale, showRange } from '../state.ts';
import { brief, count, many, seconds } from '../text.ts';
import { Button, Fact, Few, Op, Table, Unseen } from './parts.tsx';

export function CoverTab() {
  const past = history.value;
  if (!past) return null;
  const { actions } = past.timeline;
  const most = Math.max(1, ...actions.map(action => action.count));
  const never = actions.filter(action => action.count === 0);
  if (actions.length === 0) return <p class="empty">No actions.</p>;
  return (
    <div class="padded">
      <p>
        {many(actions.length - never.length, 'action')} of {actions.length} occurred.{' '}
        {never.length > 0 && (
          <>
            <strong class="odd">! never:</strong> {brief(never.map(action => action.name).join(', '), 600)}
          </>
        )}
      </p>
      <Table name="Actions by count" kind="cover" columns={['action', 'count', <Unseen>share</Unseen>]}>
        <Few
          items={actions}
          most={100}
          columns={3}
          draw={action => (
            <tr class={action.count === 0 ? 'odd' : ''}>
              <th scope="row">{brief(action.name, 80)}</th>
              <td class="number">{action.count === 0 ? '! never' : count(action.count)}</td>
              <td class="wide">
                <div class="gauge" aria-hidden="true">
                  <div style={{ width: `${(100 * action.count) / most}%` }} />
                </div>
              </td>
            </tr>
          )}
        />
      </Table>
      {report.value?.coverage && <Parts coverage={report.value.coverage} />}
    </div>
  );
}

/** True for a guard that was never false, or any other part that was never taken. */
function isUnexercised(part: CoveredPart): boolean {
  return part.kind === 'guard' ? part.refused === 0 : part.taken === 0;
}

/** The guards, branches and conditions of the actions, unexercised ones first. */
function Parts({ coverage }: { coverage: Coverage }) {
  const parts = coverage.actions.flatMap(action => action.parts.map(part => ({ action: action.name, part })));
  if (parts.length === 0) return null;
  const sorted = [...parts].sort((a, b) => Number(isUnexercised(b.part)) - Number(isUnexercised(a.part)));
  const idle = parts.filter(({ part }) => isUnexercised(part)).length;
  return (
    <section aria-labelledby="h-parts">
      <h3 id="h-parts">Guards, branches and conditions</h3>
      <p>
        Counted over {many(coverage.steps, 'step')} of the order
        {coverage.is_cut_off && '; later steps are not counted'}.{' '}
        {idle > 0 && (
          <>
            <strong class="odd">! not exercised:</strong> {idle} of {parts.length} (guards that were never false, other
            parts that were never taken)
          </>
        )}
      </p>
      <Table name="Coverage of each action" kind="cover parts" columns={['part', 'action', 'where', 'taken', 'false']}>
        <Few
          items={sorted}
          most={200}
          columns={5}
          draw={({ action, part }) => (
            <tr class={isUnexercised(part) ? 'odd' : ''}>
              <th scope="row">
                <code>{brief(part.text, 80)}</code>
              </th>
              <td>{brief(action, 40)}</td>
              <td>
                {part.path}:{part.line}
              </td>
              <td class="number">{count(part.taken)}</td>
              <td class="number">{part.kind === 'branch' ? '' : count(part.refused)}</td>
            </tr>
          )}
        />
      </Table>
    </section>
  );
}

/** The highest buckets of the overview, at least 1/40 of its width apart. */
function peaks(widths: number[], most = 8): { bucket: number; width: number }[] {
  const apart = Math.max(2, Math.floor(widths.length / 40));
  const found: { bucket: number; width: number }[] = [];
  const order = widths
    .map((width, bucket) => ({ width, bucket }))
    .sort((a, b) => b.width - a.width || a.bucket - b.bucket);
  for (const each of order) {
    if (found.length >= most || each.width <= 1) break;
    if (found.every(other => Math.abs(other.bucket - each.bucket) >= apart)) found.push(each);
  }
  return found;
}

export function SearchTab() {
  const past = history.value;
  const about = report.value;
  if (!past || !about) return null;
  const { overview, ranks } = past.timeline;
  const found = peaks(overview.widths);
  const size = ranks / Math.max(1, overview.widths.length);
  return (
    <div class="padded search">
      <Figures report={about} />
      <Widest report={about} />
      {found.length > 0 && (
        <section aria-labelledby="h-peaks">
          <h3 id="h-peaks">Peaks: configurations, that is different orders still open, when an operation returned</h3>
          <ul class="peaks">
            {found.map(({ bucket, width }) => {
              const flights = overview.flights[bucket];
              return (
                <li>
                  <Button
                    class="op"
                    onClick={() => {
                      setScale('order');
                      const middle = (bucket + 0.5) * size;
                      const half = Math.max(24, size / 2);
                      showRange('order', middle - half, middle + half);
                    }}
                  >
                    {many(width, 'configuration')}
                  </Button>{' '}
                  {flights !== undefined && `with ${many(flights, 'operation')} in flight, `}
                  {Math.round((bucket / Math.max(1, overview.widths.length)) * 100)} % into the history
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </div>
  );
}

/** Where the most configurations were possible at once, and the operations that overlap there. */
function Widest({ report }: { report: Report }) {
  const { widest } = report.stats;
  if (!widest) return null;
  return (
    <>
      <p>
        At most {many(widest.width, 'configuration')} at once
        {widest.at !== null && (
          <>
            , when <Op report={report} op={widest.at} /> returned
          </>
        )}
      </p>
      {widest.in_flight.length > 0 && (
        <details>
          <summary>{many(widest.in_flight.length, 'timebox overlaps', 'timeboxes overlap')} there</summary>
          <ul class="ops">
            <Few
              items={widest.in_flight}
              most={40}
              draw={op => (
                <li>
                  <Op report={report} op={op} />
                </li>
              )}
            />
          </ul>
        </details>
      )}
    </>
  );
}

function Figures({ report: { stats } }: { report: Report }) {
  const figures: [string, string][] = [
    ['method', stats.method],
    ['operations returned', count(stats.returned)],
    ['evaluations', count(stats.evaluations)],
    ['generated configurations', count(stats.generated)],
    ['distinct configurations', count(stats.distinct)],
    ['took', seconds(stats.seconds)],
  ];
  return (
    <dl class="record">
      {figures.map(([name, value]) => (
        <Fact name={name}>{brief(value, 120)}</Fact>
      ))}
    </dl>
  );
}
