// Pictures of every kind of page, for people to look at; `cargo xtask viewer --kinds DIR` runs this.
//
// `node shots.ts DIR [KIND...]` writes each kind of page at three widths and in both themes, and every tab of one of them,
// to DIR, with an `index.html` that shows them all. Fails if axe finds anything, if a page is wider than its window, or if
// a script fails.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { RunHead } from '../src/data/types.ts';

const [target, ...only] = process.argv.slice(2);
const command = process.env.OMNILINK;
if (!target || !command) throw new Error('run `cargo xtask viewer --kinds DIR`');
process.env.OMNILINK_PAGES = resolve(target, 'pages');
mkdirSync(process.env.OMNILINK_PAGES, { recursive: true });
const { close, findings, open } = await import('./browser.ts');
const { make, makeIndex } = await import('./made.ts');
const { file } = await import('./place.ts');
const { campaigns, comparison, runs, withFaults } = await import('./samples.ts');

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WIDTHS = [1440, 900, 400];
const THEMES = ['light', 'dark'] as const;

/** Writes a page with `omnilink check`, and returns its URL. */
function check(name: string, ...args: string[]): string {
  const path = file(`${name}.html`);
  return write(path, ['check', ...args, '--progress', 'none', '--report', `html=${path}`]);
}

/** Writes the page of a run or a report with `omnilink report`, and returns its URL. */
function report(name: string, ...args: string[]): string {
  const path = file(`${name}.html`);
  return write(path, ['report', ...args, '--output', path]);
}

function write(path: string, args: string[]): string {
  rmSync(path, { force: true });
  const { stderr } = spawnSync(command!, args, { cwd: ROOT });
  // The exit code depends on the verdict.
  assert.ok(existsSync(path), `${args.join(' ')}: ${stderr}`);
  return pathToFileURL(path).href;
}

/** The page of a history of an example. */
function example(directory: string, spec: string, history: string, ...options: string[]): string {
  const at = `examples/${directory}`;
  return check(`${directory}-${history.replace(/\W+/g, '-')}`, `${at}/${spec}`, `${at}/${history}`, ...options);
}

/** The page of transactions that do not have an isolation level. */
function isolation(level: string, history: string, ...options: string[]): string {
  const path = file('isolation.html');
  const args = ['check', '--quiet', '--isolation', level, ...options, '--report', `html=${path}`, history];
  const { status, stderr } = spawnSync(command!, args, { cwd: ROOT });
  assert.equal(status, 1, `${args.join(' ')}: ${stderr}`);
  return pathToFileURL(path).href;
}

/** The page of a kept run. */
function kept(name: string): string {
  return report(`schedule-${name}`, '--store', `tests/golden/schedules/runs/${name}`, 'latest');
}

/** The page of a history and a settings file of an example. */
function study(directory: string, spec: string, trace: string, settings: string): string {
  return example(directory, spec, `traces/${trace}.jsonl`, '--settings', `examples/${directory}/${settings}.toml`);
}

const redis = ['examples/server-levels/traces/redis-c.jsonl', '--spec', 'register', '--level', 'causal'];
const lines = ['tests/golden/reports/queue/trace.txt', '--spec', 'queue'];
const account = ['tests/golden/reports/violated/Account.tla', 'tests/golden/reports/violated/trace.txt'];
const raft = (...options: string[]) => example('log-raft', 'Raft.tla', 'logs/vote-twice', ...options);

/** The kinds of pages. */
const kinds: Record<string, () => string> = {
  queue: () => example('queue', 'Queue.tla', 'traces/missing-effect.jsonl'),
  map: () => example('map', 'Map.tla', 'traces/stale-read.jsonl'),
  etcd: () => study('etcd', 'Registers.tla', 'stale-replica', 'serializable'),
  invariant: () => check('invariant', ...account),
  snapshot: () => example('snapshot', 'Snapshot.tla', 'traces/lost-update.jsonl'),
  duplicate: () => example('queue', 'Queue.tla', 'traces/duplicate.jsonl'),
  'two-phase': () => example('two-phase', 'TwoPhase.tla', 'traces/split-decision.jsonl'),
  moodycamel: () => study('moodycamel', 'Atomic.tla', 'two-lanes', 'atomic'),
  'several-steps': () => example('producer-queue', 'ProducerQueue.tla', 'traces/torn-batch.jsonl'),
  register: () => check('register', 'examples/register.jsonl', '--spec', 'register'),
  'built-in': () => check('built-in', ...lines),
  'weak-level': () => check('weak-level', ...redis),
  'log-raft': () => raft('--settings', 'examples/log-raft/messages.toml'),
  'log-two-phase': () => example('log-two-phase', 'TwoPhase.tla', 'logs/bug'),
  isolation: () => isolation('snapshot', 'examples/isolation/replica.jsonl', '--order', 'session'),
  'log-key-value': () => example('log-key-value', 'KeyValueStore.tla', 'logs/lost-update'),
  lineup: () =>
    check('lineup', '--spec', 'tests/golden/reports/lineup/queue.lineup', 'tests/golden/reports/lineup/trace.txt'),
  stuck: () => kept('stuck'),
  'data-race': () => kept('race'),
  schedule: () => kept('rust'),
  inconclusive: () => example('two-phase', 'TwoPhase.tla', 'traces/overlapping.jsonl', '--max-width', '20'),
  accepted: () => example('map', 'Map.tla', 'traces/overlapping.jsonl', '--coverage'),
  error: () => report('error', 'tests/golden/reports/evaluation-error/report.json'),
  empty: () => check('empty', 'examples/queue/Queue.tla', 'tests/golden/reports/no-operations/trace.txt'),
  'many-processes': () => make('many', { operations: 30_000, processes: 40 }, withFaults).url,
  runs: () => makeIndex('runs', { runs: runs() }),
  campaigns: () => makeIndex('campaigns', { runs: runs(), overview: campaigns() }),
};

/** The pictures that were written, and what is wrong with them. */
const [pictures, wrong]: [string[], string[]] = [[], []];

/** All widths and themes of a page, or of its tabs. */
async function shootAll(name: string, url: string, tabs: string[] = ['']): Promise<void> {
  const { page, errors, untilVerdict, end } = await open(url);
  await untilVerdict();
  for (const tab of tabs) {
    if (tab) await page.evaluate(tab => (location.hash = `v=1&tab=${tab}`), tab);
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(300);
        const picture = `${[name, tab, width, colorScheme].filter(Boolean).join('-')}.png`;
        await page.screenshot({ path: resolve(target!, picture), fullPage: width < 900 });
        pictures.push(picture);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) wrong.push(`${picture}: ${wide} pixels too wide`);
        for (const finding of await findings(page)) wrong.push(`${picture}: ${finding}`);
      }
    }
  }
  for (const error of errors) wrong.push(`${name}: ${error}`);
  console.log(name);
  await end();
}

/** Operations on registers, of which some read an old value: lines of JSON for a monitor. */
function* traffic(): Generator<string> {
  const held = new Map<number, number>();
  const [seq, time] = [new Array<number>(6).fill(0), 1_000_000];
  for (let at = 0; at < 20_000; at += 1) {
    const process = at % 6;
    const key = `user-${(at * 7) % 41}`;
    const start = (at + 1) * time;
    const id = (at * 7) % 41;
    const value = held.get(id) ?? 0;
    const isWrite = at % 3 === 0;
    const isOld = !isWrite && at % 997 === 500;
    const op = isWrite
      ? { action: 'write', args: { key, value: at } }
      : { action: 'read', args: { key }, results: { value: isOld ? value - 1 : value } };
    if (isWrite) held.set(id, at);
    yield JSON.stringify({ process: `api-${process}`, ...op, start, end: start + time / 2, seq: seq[process]! });
    seq[process]! += 1;
    if (at % 50 === 49) {
      for (const [p, operations] of seq.entries())
        yield JSON.stringify({ process: `api-${p}`, progress: start + time, operations });
    }
  }
}

/** Runs `act` with a page of a monitor that reads operations. */
async function withMonitor(act: (url: string) => Promise<void>): Promise<void> {
  const args = [
    'monitor',
    '-',
    '--spec',
    'register:initial=0',
    '--listen',
    '127.0.0.1:0',
    '--alerts',
    file('alerts.jsonl'),
  ];
  const monitor: ChildProcess = spawn(command!, args, { cwd: ROOT });
  let isOver = false;
  const feed = async () => {
    let batch = '';
    for (const line of traffic()) {
      batch += `${line}\n`;
      if (batch.length < 20_000) continue;
      if (isOver) return;
      monitor.stdin!.write(batch);
      batch = '';
      await new Promise(done => setTimeout(done, 120));
    }
  };
  try {
    const url = await new Promise<string>((found, failed) => {
      let text = '';
      for (const stream of [monitor.stdout, monitor.stderr]) {
        stream?.on('data', (piece: Buffer) => {
          text += piece.toString();
          const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
          if (url) found(`${url[0]}/`);
        });
      }
      monitor.on('exit', () => failed(new Error(`the monitor ended: ${text}`)));
    });
    void feed();
    await new Promise(done => setTimeout(done, 9000));
    // The page as it is now: the browser would request a served one again in the middle of a picture.
    const kept = file('monitor.html');
    writeFileSync(kept, await (await fetch(url)).text());
    await act(pathToFileURL(kept).href);
  } finally {
    isOver = true;
    monitor.kill('SIGINT');
  }
}

const isWanted = (name: string) => only.length === 0 || only.includes(name);
for (const [name, url] of Object.entries(kinds)) {
  if (isWanted(name)) await shootAll(name, url());
}
if (isWanted('tabs')) {
  const { url } = make('tabs', { operations: 60, processes: 5, stops: true }, (head: RunHead) => {
    withFaults(head);
    head.compared = comparison(head.report);
  });
  const tabs = ['steps', 'interpretations', 'state', 'spec', 'compare', 'log', 'latency', 'coverage', 'search'];
  await shootAll('tab', url, tabs);
}
if (isWanted('monitor')) await withMonitor(url => shootAll('monitor', url));
await close();
const images = pictures.map(name => `<a href="${name}"><img src="${name}" alt="${name}" width="360"></a>`);
writeFileSync(resolve(target, 'index.html'), `<!doctype html><title>Kinds of pages</title>\n${images.join('\n')}\n`);
console.log(`${pictures.length} pictures in ${target}`);
assert.deepEqual(wrong, []);
