// The page about many runs: causes with counts and dates, runs over time, and one row per run.

import { signal } from '@preact/signals';
import type { IndexHead } from '../data/types.ts';
import { brief, count, many, seconds } from '../text.ts';
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
};

function verdictOf(run: Entry): string {
  return run.verdict ?? 'not checked';
}

function when(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ');
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
  const { runs } = head;
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(verdictOf(run), (counts.get(verdictOf(run)) ?? 0) + 1);
  const causes = clusters(runs);
  const bad = (counts.get('rejected') ?? 0) + (counts.get('violated') ?? 0);
  const tone = bad > 0 ? 'bad' : counts.get('inconclusive') ? 'odd' : runs.length === 0 ? 'quiet' : 'good';
  return (
    <div class="index">
      <header class={`banner ${tone}`}>
        <h1>
          <span aria-hidden="true">{bad > 0 ? '✗' : tone === 'odd' ? '…' : tone === 'quiet' ? '·' : '✓'}</span>{' '}
          {many(runs.length, 'run')}
          {bad > 0 && `, ${count(bad)} rejected for ${many(causes.length, 'cause')}`}
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
      <main id="main" tabIndex={-1}>
        {head.damaged.length > 0 && (
          <section aria-labelledby="h-damaged">
            <h2 id="h-damaged">Unreadable runs</h2>
            <ul class="card odd">
              {head.damaged.slice(0, 40).map(each => (
                <li>! {brief(each, 400)}</li>
              ))}
              {head.damaged.length > 40 && <li>and {head.damaged.length - 40} more</li>}
            </ul>
          </section>
        )}
        {causes.length > 0 && (
          <section aria-labelledby="h-causes">
            <h2 id="h-causes">Causes</h2>
            <div class="scroll card" tabIndex={0} role="region" aria-label="Table of causes">
              <table class="causes">
                <thead>
                  <tr>
                    <th scope="col">runs</th>
                    <th scope="col">cause</th>
                    <th scope="col">first seen</th>
                    <th scope="col">last seen</th>
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
                        <th scope="row">
                          {brief(cause, 200)}
                          {example.sentence && <p class="quiet">{brief(example.sentence, 300)}</p>}
                        </th>
                        <td>{when(Math.min(...times))}</td>
                        <td>{when(Math.max(...times))}</td>
                        <td>
                          <RunLink run={example} />
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>
            {causes.length > 50 && <p class="quiet">{causes.length - 50} more causes</p>}
          </section>
        )}
        {runs.length > 0 && <Trend runs={runs} />}
        {runs.length > 0 && <Table runs={runs} />}
      </main>
    </div>
  );
}

/** Links to the page of a run only if the path is relative, because names are untrusted. */
function RunLink({ run }: { run: Entry }) {
  const safe = run.page !== null && !/^[a-z][a-z0-9+.-]*:|^\/|^\\/i.test(run.page);
  return safe ? <a href={run.page!}>{brief(run.id, 24)}</a> : <span>{brief(run.id, 24)}</span>;
}

const TONES = ['good', 'odd', 'bad', 'quiet'];

/** Runs over time as bars, by verdict. */
function Trend({ runs }: { runs: Entry[] }) {
  const first = Math.min(...runs.map(run => run.began));
  const last = Math.max(...runs.map(run => run.began));
  const bars = Math.min(60, Math.max(1, runs.length));
  const span = Math.max(1, last - first + 1);
  const heights = Array.from({ length: bars }, () => new Map<string, number>());
  for (const run of runs) {
    const bar = heights[Math.min(bars - 1, Math.floor(((run.began - first) / span) * bars))]!;
    const tone = VERDICT[verdictOf(run)]?.[1] ?? 'quiet';
    bar.set(tone, (bar.get(tone) ?? 0) + 1);
  }
  const highest = Math.max(...heights.map(bar => [...bar.values()].reduce((sum, n) => sum + n, 0)));
  return (
    <section aria-labelledby="h-trend">
      <h2 id="h-trend">Over time</h2>
      <figure class="card trend">
        <svg
          viewBox={`0 0 ${bars * 10} 80`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Runs from ${when(first)} to ${when(last)}, by verdict`}
        >
          {heights.map((bar, place) => {
            let top = 80;
            return TONES.map(tone => {
              const n = bar.get(tone) ?? 0;
              if (n === 0) return null;
              const height = (n / highest) * 78;
              top -= height;
              return <rect class={tone} x={place * 10 + 1} y={top} width={8} height={height} />;
            });
          })}
        </svg>
        <figcaption>
          {when(first)} to {when(last)}; the highest bar is {many(highest, 'run')}. <i class="key good" /> ✓ accepted{' '}
          <i class="key odd" /> … inconclusive <i class="key bad" /> ✗ rejected
        </figcaption>
      </figure>
    </section>
  );
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
      return run.plan.threads;
    case 'operations':
      return run.plan.operations;
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
      <div class="card runs">
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
            return (
              <>
                <span role="gridcell">{when(run.began)}</span>
                <span role="gridcell" class={tone}>
                  {sign} {brief(verdictOf(run), 20)}
                </span>
                <span role="gridcell">
                  <RunLink run={run} />
                </span>
                <span role="gridcell">{run.plan.seed}</span>
                <span role="gridcell">{count(run.plan.threads)}</span>
                <span role="gridcell">{count(run.plan.operations)}</span>
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
