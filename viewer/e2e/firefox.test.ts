// Pages in Firefox: the verdict is visible, panning works, no script fails, and axe finds nothing serious. Chromium has
// all other tests. Uses WebDriver BiDi, because an unmodified Firefox speaks it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, describe, test } from 'node:test';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { address, pages } from './golden.ts';
import { make, makeIndex } from './made.ts';
import { picture } from './place.ts';
import { campaigns, comparison, runs, withFaults } from './samples.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Debian's path by default. */
const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

/** Limits, to save time: the most operations of a page, and the most pages of each verdict. Chromium tests all pages. */
const [MOST, EACH] = [20_000, 2];

let browser: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  browser ??= puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    headless: true,
    defaultViewport: { width: 1440, height: 900 },
  });
  return browser;
}

/** Opens a page, waits for the verdict, runs `act`; nothing fails, and, if `isChecked`, axe finds nothing serious. */
async function open(name: string, url: string, act: (page: Page) => Promise<void>, isChecked = true): Promise<void> {
  const page = await (await launch()).newPage();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('console', message => {
    if (['error', 'warn'].includes(message.type())) errors.push(message.text());
  });
  await page.goto(url);
  await page.waitForSelector('header h1', { timeout: 20_000 });
  // The tabs are drawn last.
  await page.waitForSelector('[role=tablist], .index main');
  await act(page);
  await page.screenshot({ path: picture(`firefox-${name}.png`) });
  if (isChecked) assert.deepEqual(await findings(page), []);
  assert.deepEqual(errors, []);
  await page.close();
}

/** Serious and critical findings of axe. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    type Finding = { impact: string; id: string; nodes: { target: string[] }[] };
    const axe = (window as unknown as { axe: { run(): Promise<{ violations: Finding[] }> } }).axe;
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ')}`);
  });
}

function label(page: Page): Promise<string> {
  return page.$eval('.timeline canvas', canvas => canvas.getAttribute('aria-label') ?? '');
}

/** Runs `act`, and waits until the timeline shows something else. */
async function moves(page: Page, act: () => Promise<void>): Promise<void> {
  const before = await label(page);
  await act();
  for (let wait = 0; wait < 40 && (await label(page)) === before; wait += 1)
    await new Promise(resolve => setTimeout(resolve, 50));
  assert.notEqual(await label(page), before);
}

async function openTab(page: Page, name: string): Promise<void> {
  // A tab may be behind *More*.
  if (!(await page.$(`#tab-${name}`))) {
    await page.click('.bar .share > button');
    await page.$$eval(
      '.bar [role=menuitem]',
      (items, name) => items.find(item => item.textContent?.toLowerCase() === name)?.dispatchEvent(new Event('click')),
      name,
    );
  } else await page.click(`#tab-${name}`);
  await page.waitForSelector(`#panel-${name}`);
}

describe('Firefox', { skip: pages.length === 1 }, () => {
  after(async () => (await browser)?.close());

  const counts = new Map<string, number>();
  for (const golden of pages.filter(({ file, operations }) => file && operations <= MOST)) {
    const before = counts.get(golden.verdict) ?? 0;
    counts.set(golden.verdict, before + 1);
    if (before >= EACH) continue;
    const act = async (page: Page) => {
      const title = await page.$eval('h1', heading => heading.textContent ?? '');
      assert.notEqual(title.trim(), '');
      if (golden.verdict !== 'index' && golden.operations > 4) await moves(page, () => page.keyboard.press('w'));
    };
    // To save time, axe looks at one page of each verdict.
    test(golden.name, () => open(golden.name, address(golden), act, before === 0));
  }

  test('a rejected history', () =>
    open('rejected', make('firefox', { operations: 400, processes: 6 }).url, async page => {
      await page.waitForSelector('.timeline canvas[aria-label*="not legal"]');
      assert.match(await page.$eval('h1', heading => heading.textContent ?? ''), /^✗ Rejected: /);
      for (const key of ['a', 'w', 'd'] as const) await moves(page, () => page.keyboard.press(key));
      const { x, y, width } = (await (await page.$('.timeline'))!.boundingBox())!;
      await moves(page, async () => {
        await page.mouse.move(x + width / 2, y + 60);
        await page.mouse.down();
        await page.mouse.move(x + width / 3, y + 60, { steps: 4 });
        await page.mouse.up();
      });
    }));

  test('a comparison, durations and faults', () => {
    const { url } = make('firefox-tabs', { operations: 300, processes: 6, stops: true }, head => {
      withFaults(head);
      head.compared = comparison(head.report);
    });
    return open('tabs', url, async page => {
      await openTab(page, 'compare');
      await page.waitForSelector('.compared mark.differs');
      await openTab(page, 'latency');
      await page.waitForSelector('.latency canvas[aria-label*="300 operations"]');
    });
  });

  test('campaigns', () =>
    open('campaigns', makeIndex('firefox-campaigns', { runs: runs(), overview: campaigns() }), async page => {
      assert.equal((await page.$$('.bars')).length, 6);
      await page.setViewport({ width: 400, height: 900 });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    }));
});
