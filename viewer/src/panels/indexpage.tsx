// The page about many runs: what campaigns found or, without them, causes and runs over time; then one row per run.

import { signal } from '@preact/signals';
import type { IndexHead, Plan } from '../data/types.ts';
import { brief, count, date, many, percent, seconds } from '../text.ts';
import { CampaignBanner, Campaigns, planned } from './campaigns.tsx';
import { RunLink, Sentence } from './parts.tsx';
import { HelpButton, ThemeButton } from './toolbar.tsx';
import { Rows } from './virtual.tsx';

type Entry = IndexHead['runs'][number];
type Column = 'began' | 'verdict' | 'seed' | 'threads' | 'operations' | 'took' | 'cause' | 'id';

const sort = signal<{ by: Column; down: boolean }>({ by: 'began', down: true });
const query = signal('');
const active = signal<number | null>(null);

const VERDICT: Record<string, [sign: string, tone: string]> = {
  accepted: ['✓', 'good'],
  rejected: ['✗', 'bad'],
  violated: ['✗', 'bad'],
  inconclusive: ['…', 'odd'],
  crashed: ['✗', 'bad'],
  stuck: ['✗', 'bad'],
  'data race': ['✗', 'bad'],
};

/** The verdict, or how the run failed. Calls may block if the specification says so: then the run has no cause. */
function verdictOf({ verdict, race, ended, cause }: Entry): string {
  const kind = (ended as { kind?: string } | null)?.kind ?? '';
  if (kind === 'crashed' || (kind === 'stuck' && cause !== null)) return kind;
  return race && verdict !== 'rejected' ? 'data race' : (verdict ?? 'not checked');
}

/** Groups runs by cause, most frequent first. */
function clusters(runs: Entry[]): { cause: string; runs: Entry[] }[] {
  const found = new Map<string, Entry[]>();
  for (const run of runs) {
    if (run.cause === null) continue;
    const same = found.get(run.cause) ?? [];
    same.push(run);
    found.set(run.cause, same);
  }
  return [...found]
    .map(([cause, same]) => ({ cause, runs: same }))
    .sort((a, b) => b.runs.length - a.runs.length || (a.cause < b.cause ? -1 : 1));
}

export function IndexPage({ head }: { head: IndexHead }) {
  const { runs, overview } = head;
  return (
    <div class="index">
      {overview ? <CampaignBanner head={head} overview={overview} /> : <RunsBanner head={head} />}
      <main id="main" tabIndex={-1}>
        <Damaged damaged={head.damaged} />
        {overview ? (
          <Campaigns overview={overview} runs={runs} onFilter={text => (query.value = text)} />
        ) : (
          <Causes runs={runs} />
        )}
        {runs.length > 0 && !overview && <Trend runs={runs} />}
        {runs.length > 0 && <Table runs={runs} />}
      </main>
    </div>
  );
}

/** The banner of a page without campaigns: how many runs there are, and their verdicts. */
function RunsBanner({ head }: { head: IndexHead }) {
  const { runs } = head;
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(verdictOf(run), (counts.get(verdictOf(run)) ?? 0) + 1);
  const bad = (counts.get('rejected') ?? 0) + (counts.get('violated') ?? 0);
  const tone = bad > 0 ? 'bad' : counts.get('inconclusive') ? 'odd' : runs.length === 0 ? 'quiet' : 'good';
  return (
    <header class={`banner ${tone}`}>
      <h1>
        <span aria-hidden="true">{bad > 0 ? '✗' : tone === 'odd' ? '…' : tone === 'quiet' ? '·' : '✓'}</span>{' '}
        {many(runs.length, 'run')}
        {bad > 0 && `, ${count(bad)} rejected for ${many(clusters(runs).length, 'cause')}`}
      </h1>
      <p>
        <code>{brief(head.name, 160)}</code>:{' '}
        {[...counts].map(([verdict, n]) => `${count(n)} ${verdict}`).join(', ') || 'no runs'}
      </p>
      <ul class="badges" aria-label="About this page">
        <li>
          <span>tool</span> <b>{brief(head.tool, 40)}</b>
        </li>
      </ul>
      <p class="tools">
        <ThemeButton /> <HelpButton />
      </p>
    </header>
  );
}

function Damaged({ damaged }: { damaged: string[] }) {
  if (damaged.length === 0) return null;
  return (
    <section aria-labelledby="h-damaged">
      <h2 id="h-damaged">Unreadable runs</h2>
      <ul class="card odd">
        {damaged.slice(0, 40).map(each => (
          <li>! {brief(each, 400)}</li>
        ))}
        {damaged.length > 40 && <li>and {damaged.length - 40} more</li>}
      </ul>
    </section>
  );
}

/** The causes of the kept runs. */
function Causes({ runs }: { runs: Entry[] }) {
  const causes = clusters(runs);
  if (causes.length === 0) return null;
  return (
    <section aria-labelledby="h-causes">
      <h2 id="h-causes">Causes</h2>
      <div class="scroll card" tabIndex={0} role="region" aria-label="Table of causes">
        <table class="causes">
          <thead>
            <tr>
              <th scope="col">runs</th>
              <th scope="col" class="rate">
                of all
              </th>
              <th scope="col">cause</th>
              <th scope="col" class="seen">
                first seen
              </th>
              <th scope="col" class="seen">
                last seen
              </th>
              <th scope="col">example</th>
            </tr>
          </thead>
          <tbody>
            {causes.slice(0, 50).map(({ cause, runs: same }) => {
              const times = same.map(run => run.began);
              const example = same.find(run => run.page !== null) ?? same[0]!;
              return (
                <tr>
                  <td class="number">
                    <button
                      type="button"
                      class="link"
                      title="Show only these runs"
                      onClick={() => (query.value = cause)}
                    >
                      {count(same.length)}
                    </button>
                  </td>
                  <td class="number rate">{percent(same.length / runs.length)}</td>
                  <th scope="row">
                    {brief(cause, 200)}
                    {example.sentence && (
                      <p class="quiet">
                        <Sentence text={example.sentence} width={300} />
                      </p>
                    )}
                  </th>
                  <td class="seen">{date(Math.min(...times))}</td>
                  <td class="seen">{date(Math.max(...times))}</td>
                  <td>
                    <RunLink id={example.id} page={example.page} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {causes.length > 50 && <p class="quiet">{causes.length - 50} more causes</p>}
    </section>
  );
}

const TONES = ['good', 'odd', 'bad', 'quiet'];

/** Round widths of bars, in seconds. */
const WIDTHS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 604_800];
/** The size of the plot, in its own units. */
const [WIDE, HIGH] = [600, 80];

/** Runs over time as bars of a round width, by verdict, with an axis. */
function Trend({ runs }: { runs: Entry[] }) {
  const first = Math.min(...runs.map(run => run.began));
  const last = Math.max(...runs.map(run => run.began));
  // About as many bars as runs, so that most of them are not empty.
  const most = Math.min(60, Math.max(12, runs.length));
  const width = WIDTHS.find(each => (last - first) / each < most - 1) ?? Math.ceil((last - first + 1) / (most - 1));
  const start = Math.floor(first / width) * width;
  const bars = Math.floor((last - start) / width) + 1;
  // A few runs do not fill the plot: bars have a limited width.
  const slots = Math.max(bars, 24);
  const heights = Array.from({ length: bars }, () => new Map<string, number>());
  for (const run of runs) {
    const bar = heights[Math.floor((run.began - start) / width)]!;
    const tone = VERDICT[verdictOf(run)]?.[1] ?? 'quiet';
    bar.set(tone, (bar.get(tone) ?? 0) + 1);
  }
  const highest = Math.max(...heights.map(bar => [...bar.values()].reduce((sum, n) => sum + n, 0)));
  const isFine = width < 60;
  const each = WIDE / slots;
  const marks = [0, Math.floor(bars / 2), bars - 1].filter((bar, at, all) => at === 0 || bar - all[at - 1]! > 5);
  const rejected = runs.filter(run => VERDICT[verdictOf(run)]?.[1] === 'bad').length;
  return (
    <section aria-labelledby="h-trend">
      <h2 id="h-trend">Over time</h2>
      <figure class="card trend">
        <div class="plot">
          <span class="most" aria-hidden="true">
            {count(highest)}
          </span>
          <span class="least" aria-hidden="true">
            0
          </span>
          <svg
            viewBox={`0 0 ${WIDE} ${HIGH}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`Runs from ${date(first, true)} to ${date(last, true)}, ${duration(width)} per bar, by verdict`}
          >
            {heights.map((bar, place) => {
              let top = HIGH;
              return TONES.map(tone => {
                const n = bar.get(tone) ?? 0;
                if (n === 0) return null;
                const height = (n / highest) * HIGH;
                top -= height;
                return <rect class={tone} x={place * each + each * 0.1} y={top} width={each * 0.8} height={height} />;
              });
            })}
          </svg>
          <div class="times" aria-hidden="true">
            {marks.map(bar => (
              <span style={{ left: `${((bar + 0.5) / slots) * 100}%` }}>
                {date(start + bar * width, isFine).slice(first - last < -86_400 ? 0 : 11)}
              </span>
            ))}
          </div>
        </div>
        <figcaption>
          {date(first).slice(0, 10)} (UTC), {duration(width)} per bar. {percent(rejected / runs.length)} rejected.{' '}
          <i class="key good" /> ✓ accepted <i class="key odd" /> … inconclusive <i class="key bad" /> ✗ rejected
        </figcaption>
      </figure>
    </section>
  );
}

/** `30 seconds`, `1 minute`, `6 hours`, `7 days`. */
function duration(s: number): string {
  if (s % 86_400 === 0) return many(s / 86_400, 'day');
  if (s % 3600 === 0) return many(s / 3600, 'hour');
  return s % 60 === 0 ? many(s / 60, 'minute') : many(s, 'second');
}

/** The number of threads that make operations. */
function threadsOf({ threads, only }: Plan): number {
  return only ? Object.values(only).filter(each => each.length > 0).length : threads;
}

function value(run: Entry, by: Column): string | number {
  switch (by) {
    case 'began':
      return run.began;
    case 'verdict':
      return verdictOf(run);
    case 'seed':
      return run.plan.seed;
    case 'threads':
      return threadsOf(run.plan);
    case 'operations':
      return planned(run.plan) ?? -1;
    case 'took':
      return run.took;
    case 'cause':
      return run.cause ?? '';
    case 'id':
      return run.id;
  }
}

function Table({ runs }: { runs: Entry[] }) {
  const words = query.value.toLowerCase();
  const { by, down } = sort.value;
  const shown = runs
    .filter(
      run =>
        words === '' ||
        `${run.id} ${verdictOf(run)} ${run.cause ?? ''} ${run.sentence ?? ''} ${run.spec} ${run.plan.seed}`
          .replaceAll('`', '')
          .toLowerCase()
          .includes(words),
    )
    .sort((a, b) => {
      const [left, right] = [value(a, by), value(b, by)];
      return (left < right ? -1 : left > right ? 1 : 0) * (down ? -1 : 1);
    });
  const columns: [Column, string][] = [
    ['began', 'began (UTC)'],
    ['verdict', 'verdict'],
    ['id', 'run'],
    ['seed', 'seed'],
    ['threads', 'threads'],
    ['operations', 'operations'],
    ['took', 'took'],
    ['cause', 'cause'],
  ];
  return (
    <section aria-labelledby="h-runs">
      <h2 id="h-runs">Runs</h2>
      <p>
        <input
          id="filter"
          type="search"
          aria-label="Filter runs"
          placeholder="Filter: verdict, cause, seed, spec"
          value={query.value}
          onInput={event => (query.value = event.currentTarget.value)}
        />{' '}
        <span class="quiet" role="status">
          {shown.length === runs.length ? '' : `${count(shown.length)} of ${count(runs.length)}`}
        </span>
      </p>
      <div class="card runs" style={{ '--rows': shown.length }}>
        <Rows
          label="Runs"
          count={shown.length}
          height={28}
          columns={columns.length}
          active={active.value}
          onActive={row => (active.value = row)}
          onOpen={row => {
            const link = document.querySelectorAll<HTMLAnchorElement>('.runs .row.active a')[0];
            if (shown[row] && link) link.click();
          }}
          header={columns.map(([column, title]) => (
            <span role="columnheader" aria-sort={by === column ? (down ? 'descending' : 'ascending') : 'none'}>
              <button
                type="button"
                class="link"
                onClick={() => (sort.value = { by: column, down: by === column ? !down : column === 'began' })}
              >
                {title} {by === column ? (down ? '▾' : '▴') : ''}
              </button>
            </span>
          ))}
          draw={row => {
            const run = shown[row]!;
            const [sign, tone] = VERDICT[verdictOf(run)] ?? ['·', 'quiet'];
            const operations = planned(run.plan);
            return (
              <>
                <span role="gridcell">{date(run.began, true)}</span>
                <span role="gridcell" class={tone}>
                  {sign} {brief(verdictOf(run), 20)}
                </span>
                <span role="gridcell">
                  <RunLink id={run.id} page={run.page} />
                </span>
                <span role="gridcell">{run.plan.seed}</span>
                <span role="gridcell">{count(threadsOf(run.plan))}</span>
                <span role="gridcell">{operations === null ? '' : count(operations)}</span>
                <span role="gridcell">{seconds(run.took)}</span>
                <span role="gridcell" title={run.sentence ? brief(run.sentence, 400) : undefined}>
                  {brief(run.cause ?? '', 120)}
                </span>
              </>
            );
          }}
        />
      </div>
    </section>
  );
}
