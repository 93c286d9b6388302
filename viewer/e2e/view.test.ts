// Features of `omnilink view` that a file lacks: a token, loading on demand, rechecking under assumptions, evaluating
// expressions.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertAlone, findings, nodes, open } from './browser.ts';
import { command, named } from './golden.ts';
import { picture } from './place.ts';
import { selected } from './walk.test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Serves a golden report while `act` runs. */
function view(name: string, what: string, act: (url: string) => Promise<void>): void {
  const found = named(name);
  if (!found) return;
  test(`view ${name}: ${what}`, async () => {
    const server = spawn(command, ['view', '--no-open', ...found.view], { cwd: ROOT });
    try {
      await act(await urlOf(server));
    } finally {
      server.kill();
    }
  });
}

/** The URL that the server prints. */
function urlOf(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (text: Buffer) => {
      output += text.toString();
      const url = /http:\/\/127\.0\.0\.1:\d+\/\w+\//.exec(output);
      if (url) resolve(url[0]);
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.on('exit', code => reject(new Error(`\`omnilink view\` exited with code ${code}: ${output}`)));
  });
}

view('guard-false', 'opens at the failure, and only with the token', async url => {
  const { page, requests, errors, violations, untilVerdict, end } = await open(url);
  await untilVerdict();
  await selected(page).filter({ hasText: 'not legal' }).waitFor();
  assert.deepEqual(errors, []);
  assert.deepEqual(await violations(), []);
  assertAlone(requests, url);
  assert.deepEqual(await findings(page), []);
  const { origin } = new URL(url);
  for (const path of ['/', '/head', '/wrong/', '/wrong/head']) {
    assert.equal((await fetch(origin + path)).status, 404, path);
  }
  assert.equal((await fetch(`${url}head`, { method: 'POST' })).ok, false);
  await end();
});

view('guard-false', 'rechecks under an assumption', async url => {
  const { page, requests, untilVerdict, errors, end } = await open(url);
  await untilVerdict();
  const banner = page.getByRole('banner');
  await banner.getByText('T2:3 Dequeue() = elem: 5').first().waitFor();
  // The dequeue comes before the enqueue of its element, so another operation is blocked, much earlier.
  for (let step = 0; step < 30; step += 1) await page.keyboard.press('j');
  await page.getByRole('button', { name: 'Assume T2:0 before another' }).click();
  await page.getByLabel('Name of the other operation').fill('T0:0');
  await page.keyboard.press('Enter');
  await banner.getByText('T0:0 Enqueue(elem: 1)').first().waitFor();
  assert.ok(requests.some(request => /\/head\?.*assume=T2/.test(request)));
  const title = await page.getByRole('heading', { level: 1 }).textContent();
  assert.match(title ?? '', /Rejected: /);
  await banner.getByText('Holds only under 1 assumption: T2:0 < T0:0').waitFor();
  await page.screenshot({ path: picture('view-focus.png') });
  // Without the assumption, the first verdict is back, without a condition.
  await page.getByRole('button', { name: /^Drop assumption/ }).click();
  await banner.getByText('T2:3 Dequeue() = elem: 5').first().waitFor();
  await banner.getByText('Holds only under').waitFor({ state: 'hidden' });
  assert.deepEqual(errors, []);
  await end();
});

view('guard-false', 'an invalid assumption is dropped', async url => {
  const { page, untilVerdict, end } = await open(`${url}#focus=T9:9+%3C+T0:0`);
  await untilVerdict();
  await page.getByRole('alert').filter({ hasText: 'T9:9' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Drop assumption/ }).count(), 0);
  await page.getByRole('heading', { level: 1, name: /Rejected: / }).waitFor();
  await page.getByText('Holds only under').waitFor({ state: 'hidden' });
  await end();
});

view('guard-false', 'evaluates an expression in every state', async url => {
  const { page, requests, untilVerdict, end } = await open(url);
  await untilVerdict();
  await page.keyboard.press('j');
  await page.getByRole('tab', { name: 'State' }).click();
  await page.getByPlaceholder('Len(queue)').fill('Len(queue) * 100 + 7');
  await page.keyboard.press('Enter');
  await page.getByRole('cell').filter({ hasText: /207$/ }).waitFor();
  assert.ok(requests.some(request => request.includes('watch=')));
  await page.screenshot({ path: picture('view-watch.png') });
  await page.getByPlaceholder('Len(queue)').fill('Len(');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.screenshot({ path: picture('view-wrong.png') });
  await end();
});

view('queue-500k', 'loads only visible chunks', async url => {
  const { page, requests, untilVerdict, end } = await open(url);
  await untilVerdict();
  await selected(page).filter({ hasText: 'not legal' }).waitFor();
  await page.waitForTimeout(500);
  const chunks = () => new Set(requests.map(request => /chunk-\d+/.exec(request)?.[0]).filter(Boolean)).size;
  const first = chunks();
  assert.ok(first >= 1 && first <= 8, `${first} of 31 chunks`);
  assert.ok((await nodes(page)) <= 2000);
  await end();
});
