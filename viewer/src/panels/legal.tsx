// Changes that would make the failing operation legal. Every one was checked; those that do not help are folded.

import { shortName } from '../data/short.ts';
import type { Assumption, Consequence, Field, Operation, Report } from '../data/types.ts';
import type { StuckView } from '../data/verdict.ts';
import { brief, count, many } from '../text.ts';
import { Section, Sentence } from './parts.tsx';
import { assumptionText, outcomeText } from './words.ts';

interface Change {
  /** Code is in backticks. */
  text: string;
  result: string;
  helps: boolean;
}

/** The changes that were checked: those of the report, and other results that the specification allows there. */
export function changesOf(report: Report, stuck: StuckView): Change[] {
  const { what_ifs, legal, expected, expects_more, explained } = stuck;
  const found = what_ifs.map(
    ({ assumption, outcome }): Change => ({
      text: assumptionText(report, assumption),
      result: resultText(report, outcome, assumption, explained),
      helps: outcome.kind === 'accepted' || assumption.kind === 'other-results',
    }),
  );
  const checked = what_ifs.flatMap(({ assumption }) =>
    assumption.kind === 'other-results' ? [shown(assumption.results)] : [],
  );
  const others = expected.map(shown).filter(text => !checked.includes(text));
  if (others.length > 0) {
    const more = expects_more || others.length > 4 ? ' or others' : '';
    found.unshift({
      text: `if it had returned ${others.slice(0, 4).join(' or ')}${more}`,
      result: 'legal here',
      helps: true,
    });
  }
  const limit = legal.kind === 'earlier' ? legal.until : legal.kind === 'later' ? legal.after : null;
  const other = limit === null ? undefined : report.operations[limit];
  if (other) {
    const text = `${legal.kind === 'earlier' ? 'before' : 'after'} \`${nameOf(other)}\` took effect`;
    found.push({ text, result: legal.kind === 'earlier' ? 'it came too late' : 'it came too early', helps: true });
  }
  return found.sort((a, b) => Number(b.helps) - Number(a.helps));
}

function shown(results: Field[]): string {
  return results.length === 0 ? 'nothing' : `\`${results.map(field => brief(field.value, 60)).join(', ')}\``;
}

function nameOf({ process, action, args }: Operation): string {
  return `${brief(process, 40)} ${shortName({ action, args, results: [] })}`;
}

function resultText(report: Report, outcome: Consequence, assumption: Assumption, explained: number): string {
  if (outcome.kind !== 'accepted') return outcomeText(report, outcome, assumption, explained);
  const total = report.history.operations;
  return total === null ? 'accepted' : `all ${count(total)} explained`;
}

export function Legal({ report, stuck }: { report: Report; stuck: StuckView }) {
  const changes = changesOf(report, stuck);
  const helping = changes.filter(change => change.helps);
  const others = changes.filter(change => !change.helps);
  const never = stuck.legal.kind === 'never' ? stuck.legal.looked_at : null;
  if (changes.length === 0 && never === null) return null;
  return (
    <Section id="h-legal" title="What would make it legal" note="each was checked">
      <div class="card">
        {helping.length > 0 ? <List changes={helping} sign="✓" /> : <p>No change that was checked.</p>}
        {never !== null && (
          <p class="quiet">It is legal at no place within {many(never, 'operation')} before and after.</p>
        )}
        {others.length > 0 && (
          <details>
            <summary>{many(others.length, 'change does', 'changes do')} not help</summary>
            <List changes={others} sign="✗" />
          </details>
        )}
      </div>
    </Section>
  );
}

function List({ changes, sign }: { changes: Change[]; sign: string }) {
  return (
    <ul class="ifs">
      {changes.map(({ text, result }) => (
        <li>
          <span class={`sign ${sign === '✓' ? 'good' : 'quiet'}`} aria-hidden="true">
            {sign}
          </span>
          <span>
            <Sentence text={text} width={300} />
          </span>
          <span class="quiet">{brief(result, 200)}</span>
        </li>
      ))}
    </ul>
  );
}
