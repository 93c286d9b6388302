// Writes pictures of generated pages, of every view in both themes and at three widths, and as printed:
// `npm run shots -- DIR`. They are for people to look at; no test compares them.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import type { RunHead } from '../src/data/types.ts';

const target = process.argv[2];
if (!target) throw new Error('expected a directory: npm run shots -- DIR');
process.env.OMNILINK_PAGES = resolve(target);
mkdirSync(target, { recursive: true });
const { close, open } = await import('./browser.ts');
const { make, makeIndex } = await import('./made.ts');
const { campaigns, comparison, runs, withFaults } = await import('./samples.ts');

const WIDTHS = [400, 900, 1440];
const THEMES = ['light', 'dark'] as const;

/** A page, and the tabs of it that are shown; the first one only if there are none. */
interface Sample {
  name: string;
  url: string;
  tabs: string[];
}

const whole = (head: RunHead) => {
  withFaults(head);
  head.compared = comparison(head.report);
};

const samples: Sample[] = [
  {
    name: 'rejected',
    url: make('shot-rejected', { operations: 60, processes: 5, stops: true }, whole).url,
    tabs: ['steps', 'interpretations', 'state', 'spec', 'compare', 'log', 'latency', 'coverage', 'search'],
  },
  { name: 'accepted', url: make('shot-accepted', { operations: 24, fails: false }).url, tabs: [] },
  {
    name: 'many',
    url: make('shot-many', { operations: 30_000, processes: 40 }, whole).url,
    tabs: ['steps', 'latency'],
  },
  {
    name: 'inconclusive',
    url: make('shot-inconclusive', { operations: 200 }, ({ report }) => {
      report.verdict = { kind: 'inconclusive', limit: 'time', stop: 'the time limit of 10 s was reached' };
    }).url,
    tabs: [],
  },
  { name: 'runs', url: makeIndex('shot-runs', { runs: runs() }), tabs: [] },
  { name: 'campaigns', url: makeIndex('shot-campaigns', { runs: runs(), overview: campaigns() }), tabs: [] },
];

async function shoot(page: Page, name: string, isWhole: boolean): Promise<void> {
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(target!, `${name}.png`), fullPage: isWhole });
}

for (const { name, url, tabs } of samples) {
  const { page, untilVerdict, end } = await open(url);
  await untilVerdict();
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const tab of tabs.length > 0 ? tabs : ['']) {
        if (tab) await page.locator(`#tab-${tab}`).click();
        await page.evaluate(() => scrollTo(0, 0));
        await shoot(page, [name, tab, width, colorScheme].filter(Boolean).join('-'), width < 900 || !tab);
      }
    }
  }
  // Paper, from a dark screen.
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const tab of tabs.length > 0 ? tabs : ['']) {
    if (tab) await page.locator(`#tab-${tab}`).click();
    await page.waitForTimeout(250);
    const paper = [name, tab, 'paper'].filter(Boolean).join('-');
    await page.pdf({ path: join(target, `${paper}.pdf`), format: 'A4', printBackground: false });
    await page.setViewportSize({ width: 794, height: 1123 });
    await page.emulateMedia({ media: 'print' });
    await shoot(page, paper, true);
    await page.emulateMedia({ media: null });
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  await end();
}
await close();
