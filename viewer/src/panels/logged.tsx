// The fields of an event of a log: those with the name of a variable beside the value that the specification gives it,
// the others, such as a vector clock, on demand; and the line of the log.

import type { Op } from '../data/history.ts';
import type { Report } from '../data/types.ts';
import { brief, many, paragraph } from '../text.ts';
import { compareLogged, plainField } from './compare.ts';
import { Fact, Head, Section, Unseen } from './parts.tsx';
import { Marked, marked, type Stretch, Value } from './value.tsx';

/** `values` are those of `variables` after the event, or before it if it has no explanation; null if unknown. */
export function Logged({
  op,
  process,
  variables,
  values,
  isAfter,
}: {
  op: Op;
  process: string;
  variables: string[];
  values: string[] | null;
  isAfter: boolean;
}) {
  if (op.meta.length === 0) return null;
  const { compared, others } = compareLogged(op.meta, process, values ? variables : [], values ?? []);
  const differing = compared.filter(each => each.differs).length;
  return (
    <section class="logged" aria-label="Logged values">
      {compared.length > 0 && (
        <table>
          <caption>
            <code>{brief(`${op.name} ${op.text}`, 80)}</code>{' '}
            {differing === 0
              ? 'no logged value differs'
              : `${many(differing, 'logged value')} differ${differing === 1 ? 's' : ''}`}
          </caption>
          <Head
            columns={[
              <Unseen>Difference</Unseen>,
              'Variable',
              'Logged',
              `Specification, ${isAfter ? 'after' : 'before'} the event`,
            ]}
          />
          <tbody>
            {compared.map(({ what, logged, given, differs }) => {
              const [left, right] = marked(differs ? [logged, given] : [logged, logged]);
              return (
                <tr class={differs ? 'differs' : ''}>
                  <td>{differs ? <b title="differs">≠</b> : differs === false ? '=' : ''}</td>
                  <th scope="row">{brief(what, 80)}</th>
                  <td>
                    <Side text={logged} words={differs ? left : undefined} />
                  </td>
                  <td>
                    {given === '' ? (
                      <span class="quiet">none</span>
                    ) : (
                      <Side text={given} words={differs ? right : undefined} />
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {others.length > 0 && (
        <details>
          <summary>
            Logged fields <span class="quiet">({others.map(field => brief(field.name, 30)).join(', ')})</span>
          </summary>
          <dl class="record">
            {others.map(({ name, value }) => (
              <Fact name={brief(name, 60)}>
                <Value text={plainField(value)} width={400} />
              </Fact>
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}

/** A value, with marks if it differs. */
function Side({ text, words }: { text: string; words: Stretch[] | undefined }) {
  return words ? <Marked words={words} width={300} /> : <Value text={text} width={300} />;
}

/** The line of the log that the failing event came from, as it is in its file. */
export function LoggedLine({ report }: { report: Report }) {
  const lines = report.notes.map(note => RAW.exec(note)).filter(found => found !== null);
  if (lines.length === 0) return null;
  return (
    <Section id="h-line" title={lines.length === 1 ? 'The line in the log' : 'The lines in the log'}>
      {lines.slice(0, 4).map(([, place = '', text = '']) => (
        <div class="card raw">
          <p class="quiet">{brief(place, 120)}</p>
          <pre>{jsonText(text)}</pre>
        </div>
      ))}
    </Section>
  );
}

/** A note with a line of a log. */
export const RAW = /^(.{1,200} line \d+): (.*)$/s;

/** JSON with a line for each field, digit by digit as it is: numbers may have more than a number of JavaScript holds. */
export function jsonText(text: string): string {
  let [depth, out] = [0, ''];
  for (const [piece] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{},]|[^"[\]{},]+/gs)) {
    if (/[[{]/.test(piece[0]!)) depth += 1;
    if (/[\]}]/.test(piece[0]!)) depth -= 1;
    out += piece === ',' && depth === 1 ? ',\n' : piece;
  }
  return paragraph(out.replace(/\n\s+/g, '\n'), 2000);
}
