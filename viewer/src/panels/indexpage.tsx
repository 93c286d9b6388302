// The page about many runs: what campaigns found or, without them, causes and runs over time; then one row per run.

import { signal } from '@preact/signals';
import type { FailureCause, IndexHead, Plan } from '../data/types.ts';
import { brief, count, date, many, seconds } from '../text.ts';
import { Badges, CampaignBanner, Campaigns, Causes, planned } from './campaigns.tsx';
import { Button, RunLink } from './parts.tsx';
import { ManyBanner } from './toolbar.tsx';
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

/** The causes of stored runs, most frequent first. */
function causesOf(runs: Entry[]): FailureCause[] {
  const found = new Map<string, FailureCause>();
  for (const run of runs) {
    if (run.cause === null) continue;
    const seen = { at: run.began, commit: null };
    const same = found.get(run.cause) ?? {
      kind: verdictOf(run),
      cause: run.cause,
      meets: null,
      object: run.spec,
      runs: 0,
      of: runs.length,
      rate: [0, 1],
      first: seen,
      last: seen,
      is_new: false,
      known: null,
      run: run.id,
    };
    same.runs += 1;
    if (seen.at < same.first.at) same.first = seen;
    if (seen.at > same.last.at) same.last = seen;
    found.set(run.cause, same);
  }
  return [...found.values()].sort((a, b) => b.runs - a.runs || (a.cause < b.cause ? -1 : 1));
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
          <Causes causes={causesOf(runs)} overview={null} runs={runs} onFilter={text => (query.value = text)} />
        )}
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
  const reasons = bad > 0 ? `, ${count(bad)} rejected for ${many(causesOf(runs).length, 'cause')}` : '';
  const title = many(runs.length, 'run') + reasons;
  return (
    <ManyBanner sign={{ bad: '✗', odd: '…', quiet: '·', good: '✓' }[tone]} tone={tone} title={title}>
      <p>
        <code>{brief(head.name, 160)}</code>:{' '}
        {[...counts].map(([verdict, n]) => `${count(n)} ${verdict}`).join(', ') || 'no runs'}
      </p>
      <Badges badges={[['tool', head.tool]]} />
    </ManyBanner>
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
              <Button
                class="link"
                onClick={() => (sort.value = { by: column, down: by === column ? !down : column === 'began' })}
              >
                {title} {by === column ? (down ? '▾' : '▴') : ''}
              </Button>
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
