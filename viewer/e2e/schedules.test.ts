// The Schedule tab of five kept runs, which are in tests/golden/schedules: threads, steps, marks and waits of each, without
// serious findings of axe in both themes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assertAlone, findings, nodes, open, plain } from './browser.ts';
import { command, pages } from './golden.ts';
import { file, picture } from './place.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A run, and what its tab shows. */
interface Kept {
  name: string;
  about: string;
  /** A part of the heading. */
  title: string;
  threads: string[];
  /** The number of steps inside operations, and of what is between them. */
  steps: number;
  /** Texts of some steps: operation or line of the program, effect, place. */
  says: string[];
  /** The number of steps whose order matters. */
  marked: number;
  /** The operation that no order can place, threads that wait, or the accesses of a data race. */
  fails: string[];
  waits: string[];
}

const RUNS: Kept[] = [
  {
    name: 'rust',
    title: 'T2 found stack empty',
    about: 'a stack loses an element',
    threads: ['T0', 'T1', 'T2'],
    steps: 64,
    says: ['nodes[first].next.load()= 1lib.rs:37', '◀ Pop() = elem: 14'],
    marked: 14,
    fails: ['✗ PopEmpty()'],
    waits: [],
  },
  {
    name: 'cpp',
    title: 'T2 saw 0 in count',
    about: 'a counter loses an update',
    threads: ['T1', 'T2'],
    steps: 8,
    says: ['▶ Add()', 'count.store(before + 1)← 1main.cpp:15'],
    marked: 3,
    fails: ['✗ Add() = before: 0'],
    waits: [],
  },
  {
    name: 'stuck',
    title: 'Stuck: T1 and T2 wait for each other',
    about: 'two locks in different orders',
    threads: ['T0', 'T1', 'T2'],
    steps: 8,
    says: ['▶ Get()', 'locks #1', 'locks #2'],
    marked: 0,
    fails: ['✗ waits for #2 of T2main.cpp:15', '✗ waits for #2 of T2main.cpp:22', '✗ waits for #1 of T1main.cpp:16'],
    waits: [
      'T0 Add() main.cpp:15waits for lock #2, held by T2 in Add(), since step 20',
      'T1 Get() main.cpp:22waits for lock #2, held by T2 in Add(), since step 20',
      'T2 Add() main.cpp:16waits for lock #1, held by T1 in Get(), since step 15',
    ],
  },
  {
    name: 'weak',
    title: 'T1 saw 0 in value',
    about: 'a load reads an old store',
    threads: ['T1', 'T2'],
    steps: 13,
    says: ['sequence.store(before + 2, memory_order_release)← 2main.cpp:22'],
    marked: 8,
    fails: ['✗ Read() = a: 0, b: 35'],
    waits: [],
  },
  {
    name: 'race',
    title: 'Data race on count: T2 writes it, T1 reads it',
    about: 'a counter without a lock',
    threads: ['T1', 'T2'],
    steps: 6,
    says: ['▶ Add()', '◀ Get() = now: 1'],
    marked: 0,
    fails: ['✗ count++writesmain.cpp:12', '✗ countreadsmain.cpp:16'],
    waits: [],
  },
];

// A single page was asked for if `cargo xtask viewer --only` wrote one.
describe('schedules of kept runs', { concurrency: 2, skip: pages.length === 1 }, () => {
  for (const kept of RUNS) {
    test(`${kept.name}: ${kept.about}`, async () => {
      const path = file(`schedule-${kept.name}.html`);
      const store = `tests/golden/schedules/runs/${kept.name}`;
      const report = spawnSync(command, ['report', '--store', store, 'latest', '--output', path], { cwd: ROOT });
      assert.notEqual(report.status, 2, report.stderr.toString());
      const url = pathToFileURL(path).href;
      const { page, requests, errors, untilVerdict, violations, end } = await open(url);
      await untilVerdict();
      // It is open: a controlled run begins with its schedule.
      const table = page.getByRole('list', { name: 'Steps by thread' });
      await table.waitFor();
      assert.deepEqual(await table.locator('.threads > *').allTextContents(), ['step', ...kept.threads]);
      const steps = (await table.locator('.step').allTextContents()).map(plain);
      assert.equal(steps.length, kept.steps, steps.join('\n'));
      for (const text of kept.says) assert.ok(steps.includes(plain(text)), `${text} is not in\n${steps.join('\n')}`);
      assert.deepEqual(await table.locator('.step.bad').allTextContents(), kept.fails);
      assert.equal(await table.locator('.step.meets').count(), kept.marked);
      assert.deepEqual(await page.locator('.whom li').allTextContents(), kept.waits);
      assert.ok((await nodes(page)) <= 2000, `${await nodes(page)} elements`);
      const title = plain((await page.getByRole('heading', { level: 1 }).textContent()) ?? '');
      assert.ok(title.includes(plain(kept.title)), title);
      if (kept.name === 'cpp') {
        assert.match((await table.locator('.needed').textContent()) ?? '', /switch to T1, necessary/);
        // A step leads to its line of the program and to its operation.
        await table
          .getByRole('button', { name: /^count\.load/ })
          .nth(1)
          .click();
        await page.getByRole('heading', { name: /^Step 14/ }).waitFor();
        assert.match((await page.locator('.code .marked').textContent()) ?? '', /^14.*count\.load\(\);T1$/);
        await page.waitForFunction(() => location.hash.includes('op=T1:0'));
      }
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(100);
        await page.screenshot({ path: picture(`schedule-${kept.name}-${colorScheme}.png`) });
        assert.deepEqual(await findings(page), []);
      }
      assert.deepEqual(errors, []);
      assert.deepEqual(await violations(), []);
      assertAlone(requests, url);
      await end();
    });
  }
});
