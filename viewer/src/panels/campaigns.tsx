// What the campaigns of a store found: the tested objects with their failures over time, the causes of failures, and
// which pairs of actions overlapped. Sentences come from the data; here are only labels.

import { signal } from '@preact/signals';
import type { FailureCause, Campaigns as Found, IndexHead, Plan, Sighting, TestedObject } from '../data/types.ts';
import { brief, count, date, frequency, many, percent } from '../text.ts';
import { Button, Fact, Few, Head, RunLink, Sentence, Table, Unseen } from './parts.tsx';
import { ManyBanner } from './toolbar.tsx';

/** True if only new causes and the objects that have them are shown. */
const onlyNew = signal(false);
/** The name of the object whose overlaps are shown; null for the first. */
const chosen = signal<string | null>(null);

const VERDICT: Record<TestedObject['verdict'], [sign: string, tone: string]> = {
  fails: ['✗', 'bad'],
  known: ['✗', 'quiet'],
  passes: ['✓', 'good'],
  inconclusive: ['…', 'odd'],
};

const WORST: TestedObject['verdict'][] = ['fails', 'inconclusive', 'known', 'passes'];

/** What is counted: a monitor has no runs, and counts operations. */
function noun(object: TestedObject | undefined): 'run' | 'operation' {
  return object?.how === 'monitored' ? 'operation' : 'run';
}

/** The banner: what is new, and how much was tested. */
export function CampaignBanner({ head, overview }: { head: IndexHead; overview: Found }) {
  const { objects, causes, since } = overview;
  const worst = WORST.find(verdict => objects.some(object => object.verdict === verdict)) ?? 'known';
  const [sign, tone] = objects.length === 0 ? ['·', 'quiet'] : VERDICT[worst];
  const sum = (of: (object: TestedObject) => number) => objects.reduce((all, object) => all + of(object), 0);
  const fresh = causes.filter(cause => cause.is_new).length;
  const runs = objects.some(object => noun(object) === 'run') && sum(object => object.runs);
  const badges: [string, string | false | null][] = [
    [runs === false ? 'source' : 'store', head.name],
    ['objects', count(objects.length)],
    ['runs', runs !== false && count(runs)],
    ['operations', count(sum(object => object.operations))],
    ['new since', since],
    ['tool', head.tool],
  ];
  const tools = since && (
    <Button
      aria-pressed={onlyNew.value}
      title="Show only new causes, and the objects that have them"
      onClick={() => (onlyNew.value = !onlyNew.value)}
    >
      Only new <span class="quiet">{count(fresh)}</span>
    </Button>
  );
  return (
    <ManyBanner sign={sign} tone={tone} title={<Sentence text={overview.sentence} width={400} />} tools={tools}>
      <Badges badges={badges} />
    </ManyBanner>
  );
}

/** Facts about the page in a line; those without a value are left out. */
export function Badges({ badges }: { badges: [name: string, value: string | false | null][] }) {
  return (
    <ul class="badges" aria-label="About this page">
      {badges.map(
        ([name, value]) =>
          value && (
            <li>
              <span>{name}</span> <b>{brief(value, 80)}</b>
            </li>
          ),
      )}
    </ul>
  );
}

/** Objects, causes and overlaps. `onFilter` selects kept runs by a text. */
export function Campaigns({ overview, runs, onFilter }: CampaignsProps) {
  const causes = overview.causes.filter(cause => cause.is_new || !onlyNew.value);
  const named = new Set(causes.map(cause => cause.object));
  const objects = overview.objects.filter(object => !onlyNew.value || named.has(object.name));
  const shown = objects.find(object => object.name === chosen.value) ?? objects[0];
  return (
    <>
      <section aria-labelledby="h-objects">
        <h2 id="h-objects">Objects</h2>
        {objects.length === 0 ? <p class="card">None.</p> : <Objects objects={objects} shown={shown} />}
      </section>
      <div class="pair">
        <Causes causes={causes} overview={overview} runs={runs} onFilter={onFilter} />
        {shown && noun(shown) === 'run' && <Exercised object={shown} />}
      </div>
    </>
  );
}

interface CampaignsProps {
  overview: Found;
  runs: IndexHead['runs'];
  onFilter: (text: string) => void;
}

/** The causes, one for each title. */
export function Causes({ causes, overview, ...rest }: Omit<CampaignsProps, 'overview'> & CausesProps) {
  return (
    <section aria-labelledby="h-causes">
      <h2 id="h-causes">Causes</h2>
      <ol class="card causelist">
        {causes.length === 0 && <li>None.</li>}
        <Few
          items={[...groups(causes).values()]}
          most={30}
          draw={same => (
            <Cause
              causes={same}
              of={noun(overview?.objects.find(object => object.name === same[0]!.object))}
              {...rest}
            />
          )}
        />
      </ol>
    </section>
  );
}

interface CausesProps {
  causes: FailureCause[];
  /** Null for runs without campaigns. */
  overview: Found | null;
}

/** Causes by title: those of a group differ in the steps that meet. */
function groups(causes: FailureCause[]): Map<string, FailureCause[]> {
  const found = new Map<string, FailureCause[]>();
  for (const each of causes) {
    const key = JSON.stringify([each.kind, each.cause, each.object, each.known?.name]);
    found.set(key, [...(found.get(key) ?? []), each]);
  }
  return found;
}

const MOST = 200;

function Objects({ objects, shown }: { objects: TestedObject[]; shown: TestedObject | undefined }) {
  const isMonitored = objects.every(object => noun(object) === 'operation');
  return (
    <div class="card">
      <Table
        name="Table of objects"
        kind="objects"
        columns={[
          'object',
          isMonitored ? 'operations' : 'runs',
          isMonitored ? 'violations' : 'failed',
          isMonitored ? 'violations over time, newest right' : 'failed per campaign, newest right',
          'verdict',
        ]}
      >
        <Few
          items={objects}
          most={MOST}
          columns={5}
          draw={object => {
            const [sign, tone] = VERDICT[object.verdict] ?? ['·', 'quiet'];
            return (
              <tr>
                <th scope="row">
                  <Button
                    class="op"
                    aria-pressed={object === shown}
                    title={`Show which operations of ${brief(object.name, 80)} overlapped`}
                    onClick={() => (chosen.value = object.name)}
                  >
                    {brief(object.name, 80)}
                  </Button>
                  <p class="quiet">
                    {brief(object.spec, 60)} · {brief(object.how, 80)}
                  </p>
                </th>
                <td class="number">{count(object.runs)}</td>
                <td class="number">
                  {frequency(object.failed, object.runs)}
                  <Interval rate={object.rate} />
                </td>
                <td>
                  <Bars object={object} />
                </td>
                <td>
                  <strong class={tone}>
                    {sign} {brief(object.verdict, 20)}
                  </strong>
                  {object.notes.slice(0, 6).map(note => (
                    <p class="quiet">
                      <Sentence text={note} width={160} />
                    </p>
                  ))}
                </td>
              </tr>
            );
          }}
        />
      </Table>
    </div>
  );
}

function Interval({ rate: [low, high] }: { rate: [number, number] }) {
  return (
    <p class="quiet" title="95 % confidence interval">
      {low <= 0 ? `≤ ${percent(high)}` : `${percent(low).replace(' %', '')} – ${percent(high)}`}
    </p>
  );
}

/** A bar for each campaign: the share of its runs that failed. */
function Bars({ object }: { object: TestedObject }) {
  const { name, recent } = object;
  const shares = recent.map(({ runs, failed }) => (runs > 0 ? failed / runs : 0));
  const most = Math.max(...shares, 0);
  return (
    <ul class="bars" aria-label={`Recent campaigns of ${brief(name, 80)}`}>
      {recent.map((campaign, at) => {
        const text = `${seen(campaign)}: ${count(campaign.failed)} of ${many(campaign.runs, noun(object))} failed`;
        // A campaign with any failure is visible.
        const height = shares[at] === 0 ? 0 : Math.max(2, (24 * shares[at]!) / most);
        return (
          <li title={text}>
            <span class="offscreen">{text}</span>
            <i style={{ height: `${height}px` }} />
          </li>
        );
      })}
    </ul>
  );
}

/** `commit e41c9a2, 2026-11-16 10:00`. */
function seen({ at, commit }: Sighting): string {
  return commit === null ? date(at) : `commit ${brief(commit, 12)}, ${date(at)}`;
}

interface CauseProps extends Omit<CampaignsProps, 'overview'> {
  /** With the same title, most frequent first. */
  causes: FailureCause[];
  of: 'run' | 'operation';
}

/** The cause; of a data race without the types of arguments and the directories. */
function titleOf({ kind, cause }: FailureCause): string {
  return kind === 'data race' ? cause.replace(/\([^()]*\)(?= at )/g, '').replace(/ at \S*\//g, ' at ') : cause;
}

/** A cause, and below it how its threads interleaved. */
function Cause({ causes, of, runs, onFilter }: CauseProps) {
  const [cause] = causes as [FailureCause];
  const { known } = cause;
  const total = causes.reduce((sum, each) => sum + each.runs, 0);
  const first = causes.map(each => each.first).reduce((a, b) => (b.at < a.at ? b : a));
  const last = causes.map(each => each.last).reduce((a, b) => (b.at > a.at ? b : a));
  const ways = causes.filter(each => each.meets !== null);
  const sentence = /^(rejected|violated)$/.test(cause.kind) ? runs.find(run => run.id === cause.run)?.sentence : null;
  return (
    <li>
      <p>
        {causes.some(each => each.is_new) && <strong class="new">NEW</strong>}{' '}
        <b>{brief(cause.kind.charAt(0).toUpperCase() + cause.kind.slice(1), 40)}</b>:{' '}
        <Sentence text={titleOf(cause)} width={300} />
      </p>
      {sentence && (
        <p class="quiet">
          <Sentence text={sentence} width={300} />
        </p>
      )}
      <dl class="facts">
        <Fact name="object">{brief(cause.object, 80)}</Fact>
        <Fact name="in">
          <Button
            class="link"
            title="Show the kept runs with this cause"
            onClick={() => onFilter(cause.cause.replaceAll('`', ''))}
          >
            {many(total, of)}
          </Button>{' '}
          ({frequency(total, cause.of)})
        </Fact>
        <Fact name="first">{seen(first)}</Fact>
        {last.at !== first.at && <Fact name="last">{seen(last)}</Fact>}
        {ways.length === 0 && cause.run !== null && (
          <Fact name="smallest run">
            <Smallest run={cause.run} runs={runs} />
          </Fact>
        )}
      </dl>
      {ways.length > 0 && (
        <table class="meetings">
          <Head
            columns={[ways.length === 1 ? 'interleaving' : `${ways.length} interleavings`, `${of}s`, 'smallest run']}
          />
          <tbody>
            {ways.slice(0, 20).map(way => (
              <tr>
                <th scope="row">{brief(way.meets!, 300)}</th>
                <td class="number">{count(way.runs)}</td>
                <td>{way.run !== null && <Smallest run={way.run} runs={runs} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {known && (
        <dl class="facts">
          <Fact name="known as">
            <b>{brief(known.name, 80)}</b>
          </Fact>
          <Fact name="reason">
            <Sentence text={known.reason} width={300} />
          </Fact>
          {known.until && <Fact name="until">{brief(known.until, 40)}</Fact>}
          {known.is_expired && (
            <Fact name={<Unseen>state</Unseen>}>
              <strong class="odd">! expired</strong>
            </Fact>
          )}
        </dl>
      )}
    </li>
  );
}

/** The number of operations of all threads of a run; null if its input does not say. */
export function planned({ threads, operations, only, test }: Plan): number | null {
  if (only) return Object.values(only).reduce((sum, each) => sum + each.length, 0);
  return test || threads === 0 ? null : threads * operations;
}

/** The stored run with a cause, or the one that was made smaller from it. */
function Smallest({ run, runs }: { run: string; runs: IndexHead['runs'] }) {
  let kept = runs.find(each => each.id === run);
  for (let left = runs.length; left > 0; left -= 1)
    kept = runs.find(each => kept !== undefined && each.controlled?.smaller_than === kept.id) ?? kept;
  const operations = kept ? planned(kept.plan) : null;
  return (
    <>
      <RunLink id={kept?.id ?? run} page={kept?.page ?? null} />
      {operations !== null && <span class="quiet"> {many(operations, 'operation')}</span>}
    </>
  );
}

const ACTIONS = 24;

/** Which actions overlapped: a row for each action, with the share of its operations that overlapped each other one. */
function Exercised({ object }: { object: TestedObject }) {
  const rows = object.coverage.slice(0, ACTIONS);
  return (
    <section aria-labelledby="h-exercised">
      <h2 id="h-exercised">Overlaps of {brief(object.name, 60)}</h2>
      <div class="card">
        {rows.length === 0 ? (
          <p>No operations.</p>
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Overlapping pairs of actions">
            <table class="heat">
              <thead>
                <tr>
                  <th scope="col">
                    <span class="offscreen">action</span>
                  </th>
                  {rows.map(({ action }) => (
                    <th scope="col" title={brief(action, 200)}>
                      {brief(action, 14)}
                    </th>
                  ))}
                  <th scope="col">any</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(row => (
                  <tr>
                    <th scope="row" title={brief(row.action, 200)}>
                      {brief(row.action, 20)}
                    </th>
                    {rows.map(({ action }) => (
                      <Heat part={row.with[action] ?? 0} of={row.operations} />
                    ))}
                    <Heat part={row.overlapped} of={row.operations} />
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {object.coverage.length > ACTIONS && (
          <p class="quiet">{many(object.coverage.length - ACTIONS, 'more action')}</p>
        )}
        <p class="quiet">Share of the operations of the row that overlapped an operation of the column.</p>
        {object.never.length > 0 && (
          <p>
            <strong class="odd">! never called:</strong> {brief(object.never.join(', '), 600)}
          </p>
        )}
      </div>
    </section>
  );
}

/** A share as text on a background that is the darker the larger it is. None is outlined. */
function Heat({ part, of }: { part: number; of: number }) {
  const share = of > 0 ? Math.min(1, part / of) : 0;
  return (
    <td
      class={part === 0 ? 'number none' : 'number'}
      style={{ '--heat': `${Math.round(45 * share)}%` }}
      title={`${count(part)} of ${many(of, 'operation')}`}
    >
      {percent(share)}
    </td>
  );
}
