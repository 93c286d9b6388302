// Every golden report: its page opens at the right place, shows the expected text, makes no requests, stays small and
// is accessible, in both themes.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAlone, findings, nodes, open, plain } from './browser.ts';
import { address, type Golden, named, pages } from './golden.ts';
import { picture } from './place.ts';

/** Maximum number of elements of a page, for histories of any length. */
const NODES = 2000;

const HEADINGS = {
  accepted: 'Accepted',
  rejected: 'Rejected',
  violated: 'Violated',
  inconclusive: 'Inconclusive',
  index: '12 runs',
};

function heading(golden: Golden): string {
  const isEmpty = golden.operations === 0 && golden.verdict !== 'index';
  return isEmpty ? 'Nothing to check' : HEADINGS[golden.verdict];
}

// These tests measure no time and mostly wait.
describe('golden reports', { concurrency: 2 }, () => {
  for (const golden of pages) {
    test(`${golden.name}: ${golden.about}`, async () => {
      const { page, requests, errors, untilVerdict, violations, end } = await open(address(golden));
      await untilVerdict();
      await page.waitForLoadState('load');
      await page.waitForTimeout(300);
      await page.screenshot({ path: picture(`${golden.name}.png`) });
      const title = await page.getByRole('heading', { level: 1 }).textContent();
      assert.ok(title?.includes(heading(golden)), title ?? '');
      const banner = await page.getByRole('banner').textContent();
      // Code in backticks is shown as code.
      assert.ok(plain(banner ?? '').includes(plain(golden.says.replaceAll('`', ''))), banner ?? '');
      assert.ok((await nodes(page)) <= NODES, `${await nodes(page)} elements`);
      assert.deepEqual(await violations(), []);
      assert.deepEqual(await findings(page), []);
      const tabs = await page.getByRole('tab').all();
      for (const tab of tabs) {
        await tab.click();
        assert.ok((await nodes(page)) <= NODES, `${await nodes(page)} elements in ${await tab.textContent()}`);
      }
      await tabs[0]?.click();
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.waitForTimeout(100);
      await page.screenshot({ path: picture(`${golden.name}-dark.png`) });
      assert.deepEqual(await findings(page), []);
      assert.deepEqual(errors, []);
      assertAlone(requests, address(golden));
      await end();
    });
  }
});

test('the page lists guards that were never false', async context => {
  const golden = named('guard-false');
  if (!golden) {
    context.skip('`--only` selected another page');
    return;
  }
  const { page, untilVerdict, end } = await open(address(golden));
  await untilVerdict();
  await page.getByRole('button', { name: /^More/ }).click();
  await page.getByRole('menuitem', { name: 'Coverage' }).click();
  const parts = page.getByRole('region', { name: 'Coverage of each action' });
  await parts.waitFor();
  const rows = await parts.getByRole('row').allTextContents();
  assert.ok(rows.length > 2, rows.join('\n'));
  await page.screenshot({ path: picture('coverage.png') });
  assert.deepEqual(await findings(page), []);
  await end();
});

test('choosing an edge of a cycle marks the reads and writes that prove it', async context => {
  const golden = named('isolation');
  if (!golden) {
    context.skip('`--only` selected another page');
    return;
  }
  const { page, untilVerdict, end } = await open(address(golden));
  await untilVerdict();
  const cycle = page.getByRole('img', { name: /^Cycle of a long fork: T/ });
  await cycle.waitFor();
  assert.equal(await cycle.locator('.edge').count(), 4);
  assert.equal(await page.locator('mark.now').count(), 0);
  const reason = page.getByRole('button', { name: /^T4 → T6 / });
  await reason.click();
  assert.equal(await reason.getAttribute('aria-pressed'), 'true');
  assert.deepEqual(await page.locator('mark.now').allTextContents(), ['w(2, 38)', 'r(2) = 38']);
  const levels = await page.getByRole('region', { name: 'Strongest levels' }).getByRole('row').allTextContents();
  assert.equal(levels.length, 3);
  assert.ok(levels[1]!.startsWith('session orderparallel-snapshot'), levels.join('\n'));
  await page.screenshot({ path: picture('isolation-edge.png') });
  assert.deepEqual(await findings(page), []);
  await end();
});
