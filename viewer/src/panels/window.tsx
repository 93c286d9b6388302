// The smallest failing part of the history as a table: processes as columns, time going down.
//
// Overlapping operations are in the same block; a line between blocks means that all operations above returned before
// any below began. That determines all possible orders.

import type { OpRef, Window as Part, Report } from '../data/types.ts';
import { brief, many } from '../text.ts';
import { Op, Section } from './parts.tsx';
import { rows } from './rows.ts';
import { Value } from './value.tsx';

/** The table. */
export function Window({
  report,
  window,
  blocked,
  title = 'Smallest failing part',
}: {
  report: Report;
  window: Part;
  blocked: OpRef[];
  title?: string;
}) {
  const { processes, rows: made } = rows(report.operations, window.operations);
  const shown = made.slice(0, 40);
  return (
    <Section id="h-window" title={title}>
      <div class="card">
        <p class="quiet lead">
          {many(window.operations.length, 'operation')}
          {window.start.length > 0 &&
            `, after ${many(window.before, 'other')}, from ${many(window.start.length, 'possible state')}`}
          . Operations in one row overlap; all above a thick line returned before those below began.
        </p>
        <div class="scroll" tabIndex={0} role="region" aria-label="Operations, processes as columns">
          <table class="window">
            <thead>
              <tr>
                {processes.map(name => (
                  <th scope="col">{brief(name, 24)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map(row => (
                <tr class={row.cut ? 'cut' : ''}>
                  {row.cells.map(op => (
                    <td class={op !== null && blocked.includes(op) ? 'bad' : ''}>
                      {op !== null && (
                        <>
                          {blocked.includes(op) && <span aria-label="blocked">✗ </span>}
                          <Call report={report} op={op} />
                        </>
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {made.length > shown.length && <p class="quiet">{many(made.length - shown.length, 'more row')}</p>}
        {window.start.length > 0 && (
          <details>
            <summary>Initial states</summary>
            <ul class="starts">
              {window.start.slice(0, 8).map(state => (
                <li>
                  {state.variables.map((field, at) => (
                    <>
                      {at > 0 && ', '}
                      {field.name && <code>{brief(field.name, 40)} = </code>}
                      <Value text={field.value} />
                    </>
                  ))}
                </li>
              ))}
              {window.start.length > 8 && <li>{window.start.length - 8} more</li>}
            </ul>
          </details>
        )}
      </div>
    </Section>
  );
}

function Call({ report, op }: { report: Report; op: OpRef }) {
  const operation = report.operations[op];
  return operation ? <Op report={report} op={op} label={operation.text} /> : null;
}
