// The page of a monitor, which the server sends again every two seconds: alerts, how fast operations are checked, how far
// behind the monitor is, and the keys with most open operations.

import type { IndexHead, Monitored } from '../data/types.ts';
import { brief, count, date, many } from '../text.ts';
import { Few, Section, Sentence, Table } from './parts.tsx';
import { ManyBanner } from './toolbar.tsx';

export function MonitorPage({ head, monitor }: { head: IndexHead; monitor: Monitored }) {
  const { violations, alerts, undecided, operations, checked } = monitor;
  const isUndecided = undecided > 0 || monitor.lost > 0;
  const [sign, tone] = violations > 0 ? (['✗', 'bad'] as const) : isUndecided ? ['…', 'odd'] : ['✓', 'good'];
  const found = violations === 0 ? 'No violation' : many(violations, 'violation');
  const title = `${found} in ${many(checked, 'checked operation')} of ${many(monitor.keys, 'key')}`;
  const facts: [value: number, words: string][] = [
    [undecided, 'undecided'],
    [operations - checked - undecided, 'not yet checked'],
    [monitor.lost, 'lost'],
    [monitor.late, 'late'],
  ];
  const others = facts.filter(([value]) => value > 0).map(([value, words]) => `, ${count(value)} ${words}`);
  return (
    <div class="index">
      <ManyBanner sign={sign} tone={tone} title={title}>
        <p>
          {brief(monitor.lag, 40)} behind{others.join('')}. <code>{brief(monitor.spec, 80)}</code>,{' '}
          {brief(head.name, 160)}
        </p>
      </ManyBanner>
      <main id="main" tabIndex={-1}>
        <Section id="h-alerts" title="Alerts" note={alerts.length > 0 ? 'newest first, times in UTC' : null}>
          {alerts.length === 0 ? <p class="card">None.</p> : <Alerts monitor={monitor} />}
        </Section>
        {monitor.causes.length > 0 && (
          <Section id="h-causes" title="Causes" note="each with its latest violation">
            <ul class="card">
              <Few
                items={monitor.causes}
                most={8}
                draw={({ sentence, violations }) => (
                  <li>
                    <b>{count(violations)}</b> <Sentence text={sentence} width={300} />
                  </li>
                )}
              />
            </ul>
          </Section>
        )}
        <Section id="h-rate" title="Operations checked per second">
          <Rates monitor={monitor} />
        </Section>
        {monitor.widest.length > 0 && (
          <Section id="h-widest" title="Keys with most open operations">
            <ul class="card">
              {monitor.widest.map(({ key, operations }) => (
                <li>
                  <code>{brief(key, 120)}</code> {count(operations)}
                </li>
              ))}
            </ul>
          </Section>
        )}
      </main>
    </div>
  );
}

function Alerts({ monitor: { alerts, violations } }: { monitor: Monitored }) {
  return (
    <div class="card">
      <Table name="Table of alerts" kind="alerts" columns={['time', 'key', 'what happened', 'page']}>
        <Few
          items={alerts}
          most={60}
          columns={4}
          draw={({ at, kind, key, sentence, page }) => (
            <tr>
              <td class="number">{date(at, true)}</td>
              <td>
                <code>{brief(key, 80)}</code>
              </td>
              <td>
                {kind !== 'violation' && <b>{brief(kind, 20)}: </b>}
                <Sentence text={sentence} width={300} />
              </td>
              <td>{page !== null && <a href={page}>{page.replace(/\.html$/, '')}</a>}</td>
            </tr>
          )}
        />
      </Table>
      {violations > alerts.length && <p class="quiet">{count(violations - alerts.length)} earlier ones</p>}
    </div>
  );
}

/** The size of the plot, in its own units. */
const [WIDE, HIGH] = [600, 80];

/** A bar for each interval: operations per second, with a red foot if there were violations. */
function Rates({ monitor: { recent } }: { monitor: Monitored }) {
  const bars = recent.slice(1).map((entry, at) => {
    const seconds = Math.max(1, entry.at - recent[at]!.at);
    return { ...entry, rate: entry.checked / seconds };
  });
  const last = bars.at(-1);
  if (!last) return <p class="card">Not yet.</p>;
  const most = Math.max(1, ...bars.map(bar => bar.rate));
  const each = WIDE / Math.max(bars.length, 12);
  const text = `${count(Math.round(last.rate))} per second now, at most ${count(Math.round(most))}`;
  return (
    <figure class="card trend">
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label={text}>
        {bars.map(({ rate, violations }, at) => {
          const height = (rate / most) * HIGH;
          const foot = violations > 0 ? Math.min(height, 6) : 0;
          return (
            <>
              <rect class="placed" x={at * each} y={HIGH - height} width={each * 0.8} height={height} />
              <rect class="blocked" x={at * each} y={HIGH - foot} width={each * 0.8} height={foot} />
            </>
          );
        })}
      </svg>
      <figcaption>
        {text}, {date(bars[0]!.at, true).slice(11)} to {date(last.at, true).slice(11)}. Violations are red.
      </figcaption>
    </figure>
  );
}
