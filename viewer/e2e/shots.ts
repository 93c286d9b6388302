// Pictures of pages, for people to look at; no test compares them. `cargo xtask viewer --pictures` runs this.
//
// `node shots.ts DIR`: every kind of page at three widths and in both themes, and every tab of one of them, to DIR.
// `node shots.ts DIR BOOK`: also the pictures of README.md and the book, to BOOK. Each is made from the example that the
// text around it is about.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import type { RunHead } from '../src/data/types.ts';

const [target, book] = process.argv.slice(2);
const command = process.env.OMNILINK;
if (!target || !command) throw new Error('run `cargo xtask viewer --pictures`');
process.env.OMNILINK_PAGES = resolve(target);
mkdirSync(target, { recursive: true });
const { close, open } = await import('./browser.ts');
const { make, makeIndex } = await import('./made.ts');
const { file } = await import('./place.ts');
const { campaigns, comparison, runs, withFaults } = await import('./samples.ts');

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WIDTHS = [1440, 900, 400];
const THEMES = ['light', 'dark'] as const;

/** Writes a page with `omnilink report`, and returns its URL. */
function report(name: string, ...args: string[]): string {
  const path = file(`${name}.html`);
  const { status, stderr } = spawnSync(command!, ['report', ...args, '--output', path], { cwd: ROOT });
  assert.ok(status === 0 || status === 1 || status === 3, `${args.join(' ')}: ${stderr}`);
  return pathToFileURL(path).href;
}

/** The page of a history of an example. */
function example(directory: string, spec: string, history: string, ...options: string[]): string {
  const at = `examples/${directory}`;
  return report(`${directory}-${history.replace(/\W+/g, '-')}`, `${at}/${spec}`, `${at}/${history}`, ...options);
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

const redis = ['examples/server-levels/traces/redis-c.jsonl', '--spec', 'register', '--level', 'causal'];
const lines = ['tests/golden/reports/queue/trace.txt', '--spec', 'queue'];
const account = ['tests/golden/reports/violated/Account.tla', 'tests/golden/reports/violated/trace.txt'];
const raft = (...options: string[]) => example('log-raft', 'Raft.tla', 'logs/vote-twice', ...options);

/** The kinds of pages. */
const kinds: Record<string, () => string> = {
  map: () => example('map', 'Map.tla', 'traces/stale-read.jsonl'),
  queue: () => example('queue', 'Queue.tla', 'traces/missing-effect.jsonl'),
  'several-steps': () => example('producer-queue', 'ProducerQueue.tla', 'traces/torn-batch.jsonl'),
  invariant: () => report('invariant', ...account),
  'built-in': () => report('built-in', ...lines),
  'weak-level': () => report('weak-level', ...redis),
  'log-raft': () => raft('--settings', 'examples/log-raft/messages.toml'),
  'log-two-phase': () => example('log-two-phase', 'TwoPhase.tla', 'logs/bug'),
  isolation: () => isolation('snapshot', 'examples/isolation/replica.jsonl', '--order', 'session'),
  accepted: () => example('map', 'Map.tla', 'traces/overlapping.jsonl', '--coverage'),
  inconclusive: () => example('two-phase', 'TwoPhase.tla', 'traces/overlapping.jsonl', '--max-width', '20'),
  schedule: () => kept('rust'),
  'data-race': () => kept('race'),
  stuck: () => kept('stuck'),
  lineup: () =>
    report('lineup', '--spec', 'tests/golden/reports/lineup/queue.lineup', 'tests/golden/reports/lineup/trace.txt'),
  'many-processes': () => make('many', { operations: 30_000, processes: 40 }, withFaults).url,
  runs: () => makeIndex('runs', { runs: runs() }),
  campaigns: () => makeIndex('campaigns', { runs: runs(), overview: campaigns() }),
};

/** A picture of the book. `dark` is the theme, `size` the window. */
interface Picture {
  file: string;
  url: () => string;
  dark?: boolean;
  size?: [width: number, height: number];
}

const pictures: Picture[] = [
  { file: 'report.png', url: kinds.map! },
  { file: 'dark.png', url: kinds.map!, dark: true },
  { file: 'several-steps.png', url: () => `${kinds['several-steps']!()}#tab=interpretations` },
  { file: 'schedule.png', url: () => `${kinds.schedule!()}#tab=schedule` },
  { file: 'log.png', url: kinds['log-raft']! },
];

async function shoot(page: Page, path: string, isWhole: boolean): Promise<void> {
  await page.waitForTimeout(300);
  await page.screenshot({ path, fullPage: isWhole });
}

/** All widths and themes of a page, or of its tabs. */
async function shootAll(name: string, url: string, tabs: string[] = ['']): Promise<void> {
  const { page, untilVerdict, end } = await open(url);
  await untilVerdict();
  for (const tab of tabs) {
    if (tab) await page.evaluate(tab => (location.hash = `v=1&tab=${tab}`), tab);
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const path = join(target!, `${[name, tab, width, colorScheme].filter(Boolean).join('-')}.png`);
        await shoot(page, path, width < 900);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) console.log(`${path}: ${wide} pixels too wide`);
      }
    }
  }
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

/** Runs `act` with the page of a monitor that reads operations. */
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
    await act(url);
  } finally {
    isOver = true;
    monitor.kill('SIGINT');
  }
}

const only = process.env.ONLY?.split(',');
for (const [name, url] of Object.entries(kinds)) {
  if (!only || only.includes(name)) await shootAll(name, url());
}
if (!only || only.includes('tabs')) {
  const { url } = make('tabs', { operations: 60, processes: 5, stops: true }, (head: RunHead) => {
    withFaults(head);
    head.compared = comparison(head.report);
  });
  const tabs = ['steps', 'interpretations', 'state', 'spec', 'compare', 'log', 'latency', 'coverage', 'search'];
  await shootAll('tab', url, tabs);
}
if (!only || only.includes('monitor')) await withMonitor(url => shootAll('monitor', url));
if (book) {
  for (const { file: name, url, dark, size: [width, height] = [1440, 900] } of pictures) {
    const { page, untilVerdict, end } = await open(url(), {
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
    });
    await untilVerdict();
    await shoot(page, join(book, name), false);
    await end();
    console.log(name);
  }
  await withMonitor(async url => {
    const { page, untilVerdict, end } = await open(url, { viewport: { width: 1440, height: 700 } });
    await untilVerdict();
    await shoot(page, join(book, 'monitor.png'), false);
    await end();
  });
}
await close();
