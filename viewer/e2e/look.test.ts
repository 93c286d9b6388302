// What generated pages look like: sizes, places and contents that depend on the layout of a browser.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { RunHead } from '../src/data/types.ts';
import type { Plan } from '../test/queue.ts';
import { findings, open } from './browser.ts';
import { pages, picture } from './golden.ts';
import { make } from './made.ts';

/** Opens a generated page and runs `act`; no errors, and nothing serious that axe finds afterwards. */
function look(
  name: string,
  plan: Partial<Plan>,
  act: (page: Page, head: RunHead) => Promise<void>,
  change: (head: RunHead) => void = () => {},
): void {
  test(name, async () => {
    const { url, head } = make(name.replace(/\W+/g, '-'), plan, change);
    const { page, errors, untilVerdict, violations, end } = await open(url, { acceptDownloads: true });
    await untilVerdict();
    await page.waitForTimeout(200);
    await act(page, head);
    await page.screenshot({ path: picture(`look-${name.replace(/\W+/g, '-')}.png`) });
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(errors, []);
    assert.deepEqual(await violations(), []);
    await end();
  });
}

describe('generated pages', { concurrency: 2, skip: pages.length === 1 }, () => {
  look('the timeline is as high as its lanes', { processes: 4 }, async page => {
    const { height } = (await page.locator('.timeline').boundingBox())!;
    assert.ok(height < 200, `${height} pixels for 4 lanes`);
  });

  look('many lanes leave room for the list', { operations: 900, processes: 40 }, async page => {
    const { y, height } = (await page.locator('.lower').boundingBox())!;
    assert.ok(height > 250 && y + height <= 900, `${height} pixels at ${y}`);
  });
});
