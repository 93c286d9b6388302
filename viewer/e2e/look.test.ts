// What generated pages look like: sizes, places and contents that depend on the layout of a browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { RunHead } from '../src/data/types.ts';
import type { Plan } from '../test/queue.ts';
import { findings, open, strain, until } from './browser.ts';
import { pages } from './golden.ts';
import { make, makeIndex } from './made.ts';
import { picture } from './place.ts';
import { campaigns, comparison, runs, withFaults } from './samples.ts';

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
    // The tabs are drawn last.
    await page.getByRole('tablist').waitFor();
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

  for (const width of [400, 900, 1440]) {
    look(`the smallest part is whole at ${width} pixels`, { stops: true }, async (page, { report }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(200);
      const part = page.getByRole('region', { name: 'What happened' });
      const card = (await part.locator('.card').boundingBox())!;
      assert.ok(card.width > Math.min(width - 450, 360), `${card.width} pixels`);
      const boxes = await part.locator('.box').all();
      assert.ok(report.verdict.kind === 'rejected' && report.verdict.evidence.kind === 'stuck');
      assert.ok(boxes.length >= report.verdict.evidence.window!.operations.length);
      for (const box of boxes) {
        const { x, width: wide } = (await box.boundingBox())!;
        assert.ok(x >= card.x && x + wide <= card.x + card.width, `${await box.textContent()} at ${x}, ${wide} wide`);
        const isCut = await box.evaluate(element => element.scrollWidth > element.clientWidth + 1);
        assert.equal(isCut, false, `${await box.textContent()} is cut`);
      }
      assert.match((await part.locator('.box.blocked').first().textContent()) ?? '', /✗ .*Dequeue \d+/);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      // It comes before the reasons; on a narrow screen, both come before the timeline.
      const top = async (selector: string) => (await page.locator(selector).boundingBox())!.y;
      assert.ok((await top('#h-window')) < (await top('#h-why')));
      if (width < 800) assert.ok((await top('#h-why')) < (await top('.timeline')));
    });
  }

  look('the smallest part is saved as a trace', {}, async page => {
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as JSON Lines' }).click();
    const download = await saved;
    assert.equal(download.suggestedFilename(), 'queue.trace-smallest.jsonl');
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    assert.equal(lines.length, 6);
    for (const line of lines) assert.match(line, /^\{"process":"T\d","action":"\w+","start":\d+,"end":\d+,"args":/);
  });

  look(
    'the banner shows the headline of the report',
    {},
    async page => {
      const title = page.getByRole('heading', { level: 1 });
      assert.match((await title.textContent()) ?? '', /^✗ Rejected: T2 took 5 out while Head\(queue\) was 4$/);
      // The sign says that; the word is for screen readers.
      assert.equal(await title.getByText('Rejected').evaluate(element => element.clientWidth), 1);
      assert.equal(await title.locator('code').textContent(), 'Head(queue)');
      const banner = (await page.getByRole('banner').textContent()) ?? '';
      assert.match(banner, /4 went in by T0:4, and nothing took it out\./);
      // The rest is on demand.
      await page.getByRole('button', { name: /^Details/ }).click();
      await page.getByRole('banner').getByText('specification').waitFor();
      await page.keyboard.press('Escape');
      assert.doesNotMatch(banner, /`/);
    },
    ({ report }) => {
      assert.ok(report.verdict.kind === 'rejected');
      report.verdict.sentence = 'T2 took 5 out while `Head(queue)` was 4';
      report.verdict.details = '4 went in by T0:4, and nothing took it out.';
    },
  );

  look(
    'possible states are grouped by what decides',
    { operations: 60 },
    async page => {
      const listed = page.getByRole('region', { name: 'Possible states' });
      const groups = await listed.locator('.stategroup').all();
      assert.equal(groups.length, 2);
      assert.match((await groups[0]!.textContent()) ?? '', /Head\(queue\) = 199 · 44 states, for example/);
      assert.match((await groups[1]!.textContent()) ?? '', /Head\(queue\) = 200 · 4 states, for example/);
      // One example each, and the others on demand.
      assert.equal(await listed.locator('.states > li .letter').count(), 2);
      await groups[1]!.getByText('3 more states').click();
      await until(async () => assert.equal(await groups[1]!.locator('.states > li .letter').count(), 4));
    },
    ({ report: { verdict } }) => {
      assert.ok(verdict.kind === 'rejected' && verdict.evidence.kind === 'stuck');
      const { evidence } = verdict;
      const [state] = evidence.states;
      evidence.states = Array.from({ length: 48 }, (_, at) => ({
        id: String(at),
        variables: [{ name: 'queue', value: `<<${at < 44 ? 199 : 200}, ${at}>>` }, ...state!.variables.slice(1)],
      }));
      const some = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
      evidence.groups = [
        { values: [{ name: 'Head(queue)', value: '199' }], states: some(0, 44) },
        { values: [{ name: 'Head(queue)', value: '200' }], states: some(44, 48) },
      ];
    },
  );

  look(
    'the operation that breaks an invariant is the one that is marked',
    {},
    async (page, { report }) => {
      const culprit = report.operations[report.operations.length - 1]!;
      assert.match((await page.getByRole('heading', { level: 1 }).textContent()) ?? '', /^✗ Violated/);
      const label = await page.getByRole('img', { name: /^Timeline of/ }).getAttribute('aria-label');
      assert.ok(label?.includes(`breaks AtMostOne: ${culprit.name} `), label ?? '');
      assert.doesNotMatch(label ?? '', /blocked/);
      const first = page.getByRole('grid', { name: 'Steps, newest first' }).getByRole('row').nth(1);
      assert.match((await first.textContent()) ?? '', /✗ breaks it.*breaks AtMostOne/);
      await page.getByRole('region', { name: 'The rule it breaks' }).getByText('false after').waitFor();
      assert.match((await page.locator('.legend').first().textContent()) ?? '', /✗ breaks AtMostOne/);
      assert.equal(await page.getByRole('banner').locator('code', { hasText: 'AtMostOne' }).count(), 1);
    },
    ({ report, timeline }) => {
      const { verdict } = report;
      assert.ok(verdict.kind === 'rejected' && verdict.evidence.kind === 'stuck' && timeline);
      const { states, reasons } = verdict.evidence;
      // The last common step.
      const broke = report.operations.push({ ...report.operations[1]!, name: 'T0:5', process: 'T0' }) - 1;
      timeline.mentioned[broke] = 18;
      const guard = reasons.map(reason => reason.why).find(why => why.kind === 'guard')!;
      verdict.sentence = 'no order is left that keeps `AtMostOne`';
      verdict.evidence = {
        kind: 'invariant',
        invariant: 'AtMostOne',
        span: guard.span,
        states,
        conjuncts: guard.conjuncts,
        broke: [broke],
      };
    },
  );

  look('on paper the timeline is whole, and everything is unfolded', { operations: 60, stops: true }, async page => {
    await page.setViewportSize({ width: 794, height: 1123 });
    await page.emulateMedia({ media: 'print' });
    await page.waitForTimeout(200);
    const paper = page.locator('.paper canvas');
    const { x, width, height } = (await paper.boundingBox())!;
    assert.ok(x >= 0 && x + width <= 794 && height > 80, `${width} by ${height} at ${x}`);
    // All 60 operations are drawn: the blocked one, near the end, is red.
    const isRed = await paper.evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < data.length; i += 4)
        if (data[i]! > 150 && data[i + 1]! < 60 && data[i + 2]! < 60) return true;
      return false;
    });
    assert.ok(isRed, 'no blocked operation');
    assert.equal(await page.locator('.timeline').isVisible(), false);
    assert.equal(await page.locator('details:not([open])').count(), 0);
    assert.equal(await page.locator('.paper + .legend').isVisible(), true);
    for (const conjunct of await page.locator('.conjunct').all()) assert.ok(await conjunct.isVisible());
    // A browser that prints also says so before and after.
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'screen' });
    await page.waitForFunction(() => document.querySelector('details[open]') === null);
    assert.equal(await page.locator('.paper').isVisible(), false);
  });

  for (const width of [1100, 1280, 1440]) {
    look(`a search moves nothing at ${width} pixels`, { operations: 200 }, async page => {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(100);
      const top = async () => (await page.locator('.timeline').boundingBox())!.y;
      const before = await top();
      await page.keyboard.press('/');
      await page.keyboard.type('op:Dequeue');
      await page.keyboard.press('Enter');
      await page.getByText(/^1 of \d+ matches$/).waitFor();
      assert.equal(await top(), before);
      assert.equal(
        await page
          .locator('.page')
          .getByText(/\d matches$/)
          .count(),
        1,
      );
      await page.keyboard.press('Enter');
      await page.getByText(/^2 of \d+ matches$/).waitFor();
      await page.keyboard.press('Shift+Enter');
      await page.getByText(/^1 of \d+ matches$/).waitFor();
      if (width >= 1280) assert.ok((await page.locator('.toolbar').boundingBox())!.height < 50);
    });
  }

  look('lanes are ordered by name', { processes: 6, operations: 60 }, async page => {
    const label = await page.getByRole('img', { name: /^Timeline of/ }).getAttribute('aria-label');
    assert.match(label ?? '', /^Timeline of 6 processes by name/);
    await page.locator('.timeline canvas').hover({ position: { x: 20, y: 40 } });
    await page.locator('.tip', { hasText: /^T0Lanes are ordered by name/ }).waitFor();
  });

  look('lanes are grouped by node', { processes: 6, operations: 60 }, async page => {
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('combobox', { name: 'Lanes' }).selectOption('by node');
    await page.keyboard.press('Escape');
    await page.getByRole('img', { name: /^Timeline of 6 processes by node/ }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Save the timeline as SVG' }).click();
    const svg = readFileSync(await (await saved).path(), 'utf8');
    const names = [...svg.matchAll(/>(n\d T\d)</g)].map(([, name]) => name);
    assert.deepEqual(names, ['n0 T0', 'n0 T3', 'n1 T1', 'n1 T4', 'n2 T2', 'n2 T5']);
  });

  look('the search box names an action of the history', {}, async page => {
    const hint = await page.getByRole('searchbox', { name: 'Find operations' }).getAttribute('placeholder');
    assert.match(hint ?? '', /^Find: op:(Enqueue|Dequeue)/);
  });

  for (const width of [400, 1440]) {
    look(`the skip link leads to the explanation at ${width} pixels`, {}, async page => {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(100);
      await page.getByRole('link', { name: 'Skip to the explanation' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.activeElement?.closest('#why'));
    });
  }

  look('help explains every sign', {}, async page => {
    await page.keyboard.press('?');
    const help = page.getByRole('dialog');
    for (const sign of ['✗', 'before…', 'orders part', '1→10', 'event', 'unfinished', 'waits for ever'])
      await help.locator('dt').getByText(sign, { exact: true }).first().waitFor();
    assert.deepEqual(await findings(page), []);
    await page.screenshot({ path: picture('look-help.png') });
    await page.keyboard.press('Escape');
  });

  look(
    'the specification is coloured, and opens with the conjunct in the middle',
    {},
    async page => {
      await page.getByRole('tab', { name: 'Specification' }).click();
      const lines = page.getByRole('grid', { name: /^Source of/ });
      const active = lines.locator('.row.active');
      await active.getByText('Head(queue) = elem').waitFor();
      const box = (await lines.locator('.rows').boundingBox())!;
      const { y } = (await active.boundingBox())!;
      const part = (y - box.y) / box.height;
      assert.ok(part > 0.2 && part < 0.8, `at ${part} of the height`);
      await lines.locator('.tla-keyword').getByText('UNCHANGED').first().waitFor();
    },
    ({ report }) => {
      const [source] = report.sources;
      const above = '\\* a comment\n'.repeat(200);
      source!.text = above + source!.text + above;
      const shift = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return;
        const span = value as { source?: number; start?: number; end?: number };
        if (span.source === 0 && span.start !== undefined && span.end !== undefined) {
          span.start += above.length;
          span.end += above.length;
        }
        Object.values(value).forEach(shift);
      };
      shift(report.verdict);
    },
  );

  look('orders name states by their letters', {}, async page => {
    await page.getByRole('tab', { name: 'Orders' }).click();
    const table = page.getByRole('region', { name: /^Orders/ });
    const cells = await table.getByRole('cell').allTextContents();
    assert.ok(cells.some(cell => /→ A/.test(cell)) && cells.some(cell => /→ B/.test(cell)), cells.join('\n'));
    assert.doesNotMatch(cells.join(' '), /\b[0-9a-f]{6}\b/);
  });

  look(
    'paths break after slashes',
    {},
    async page => {
      await page.setViewportSize({ width: 400, height: 900 });
      await page.getByRole('button', { name: /^Details/ }).click();
      const name = page.locator('.details dd').getByText('a-rather-long-path');
      assert.ok((await name.locator('wbr').count()) === 2);
      assert.match((await name.textContent()) ?? '', /missing-effect\.jsonl$/);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    },
    ({ report }) => {
      report.history.name = 'a-rather-long-path/of/missing-effect.jsonl';
    },
  );

  test('an index of runs says how many operations there were, and when', async () => {
    const { page, errors, untilVerdict, end } = await open(makeIndex('index', { runs: runs() }));
    await untilVerdict();
    const rows = page.getByRole('grid', { name: 'Runs' }).getByRole('row');
    assert.match((await rows.nth(1).textContent()) ?? '', /^2025-06-15 15:08:37.*39100 ms/);
    await page.getByRole('button', { name: 'operations' }).click();
    await rows
      .nth(1)
      .filter({ hasText: /aaaaa0023100 ms/ })
      .waitFor();
    await page.screenshot({ path: picture('look-index.png') });
    await page.setViewportSize({ width: 400, height: 900 });
    await page.waitForTimeout(100);
    const cause = page.locator('.causelist').getByText(/elem = Head\(queue\) is FALSE/);
    const { x, width } = (await cause.boundingBox())!;
    assert.ok(x + width <= 400, `the cause ends at ${x + width}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(errors, []);
    await end();
  });

  test('an index with campaigns says what is new, how often, and what overlapped', async () => {
    const url = makeIndex('campaigns', { runs: runs(), overview: campaigns() });
    const { page, errors, untilVerdict, violations, end } = await open(url);
    await untilVerdict();
    const title = page.getByRole('heading', { level: 1 });
    assert.equal(await title.textContent(), '✗ 1 new cause since commit e41c9a2, 2 known ones still there');
    const objects = page.getByRole('region', { name: 'Table of objects' });
    const ring = objects.getByRole('row', { name: /ring-queue/ });
    assert.match((await ring.textContent()) ?? '', /12,0436 %5.6 – 6.5 %.*✗ fails1 new cause/);
    const bars = ring.getByRole('list', { name: 'Recent campaigns of ring-queue' }).getByRole('listitem');
    assert.equal(await bars.count(), 30);
    assert.match((await bars.last().getAttribute('title')) ?? '', /^commit [0-9a-f]+, 2026-.* \d+ of 400 runs failed$/);
    // Names from outside stay text.
    assert.equal(await page.locator('img').count(), 0);
    const causes = page.getByRole('region', { name: 'Causes' }).locator('.causelist > li');
    assert.equal(await causes.count(), 4);
    assert.match(
      (await causes.nth(0).textContent()) ?? '',
      /^NEW Rejected: .*753 runs.*commit e41c9a2.*2 interleavings.*main\.rs:39 between.*723.*main\.rs:43/,
    );
    assert.match((await causes.nth(2).textContent()) ?? '', /known as#412reason.*until2026-12-01/);
    assert.match((await causes.nth(2).textContent()) ?? '', /! expired/);
    assert.match((await causes.nth(3).textContent()) ?? '', /3 runs \(1 in 29,000\)/);
    assert.equal(await causes.nth(0).getByRole('link').getAttribute('href'), 'aaaaa4/report.html');
    const overlaps = page.getByRole('region', { name: 'Overlapping pairs of actions' });
    const cells = overlaps.getByRole('row', { name: /^Enqueue/ }).getByRole('cell');
    assert.deepEqual(await cells.allTextContents(), ['80 %', '90 %', '40 %', '0 %', '95 %']);
    await page.getByText('! never called: Len').waitFor();
    assert.deepEqual(await findings(page), []);
    await page.screenshot({ path: picture('look-campaigns.png'), fullPage: true });
    await objects.getByRole('button', { name: /^wiredtiger/ }).click();
    await page.getByRole('heading', { name: /^Overlaps of wiredtiger/ }).waitFor();
    await page.getByRole('button', { name: /^Only new/ }).click();
    await until(async () => assert.equal(await causes.count(), 1));
    assert.equal(await objects.getByRole('row').count(), 2);
    await page.getByRole('button', { name: /^Only new/ }).click();
    for (const width of [400, 900]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(100);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    }
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(errors, []);
    assert.deepEqual(await violations(), []);
    await end();
  });

  look(
    'faults and annotations are above the lanes, and shade those that they concern',
    {},
    async page => {
      const timeline = page.getByRole('img', { name: /^Timeline of/ });
      assert.match((await timeline.getAttribute('aria-label')) ?? '', /events: partition and kill -9/);
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('menuitem', { name: 'Save the timeline as SVG' }).click();
      const svg = readFileSync(await (await saved).path(), 'utf8');
      assert.match(svg, />partition \(nemesis\)</);
      assert.match(svg, />kill -9</);
      // One of the two concerns two lanes, the other all four.
      const shades = (pattern: RegExp) => [...svg.matchAll(pattern)].filter(([, high]) => Number(high) > 20).length;
      assert.equal(shades(/<rect [^>]*height="([\d.]+)"[^>]*fill="#f3e0fd"[^>]*opacity="0.55"/g), 2);
      assert.equal(shades(/<rect [^>]*height="([\d.]+)"[^>]*fill="#0b7285"[^>]*opacity="0.14"/g), 4);
      const { width } = (await timeline.boundingBox())!;
      for (let x = 80; x < width && (await page.locator('.tip').count()) === 0; x += 12)
        await timeline.hover({ position: { x, y: 32 } });
      assert.match((await page.locator('.tip').textContent()) ?? '', /rm2 was cut off.*concerns T0, T2/s);
      await page.getByRole('tab', { name: 'Operation' }).click();
      const table = page.getByRole('region', { name: 'Faults and annotations' });
      await until(async () => assert.equal(await table.getByRole('row').count(), 3));
    },
    ({ report }) => {
      const { start } = report.operations[0]!;
      report.history.events = [
        {
          name: 'partition',
          tag: 'nemesis',
          start: start - 500,
          end: start,
          nodes: ['T0', 'T2'],
          text: 'rm2 was cut off',
        },
        { name: 'kill -9', start: start - 200, text: 'the leader was killed' },
      ];
    },
  );

  for (const width of [400, 1440]) {
    look(
      `another run is beside this one at ${width} pixels`,
      {},
      async (page, { report, compared }) => {
        await page.setViewportSize({ width, height: 900 });
        await page.getByRole('tab', { name: 'Compare' }).click();
        await page.getByText('returned 4 here and 5 there').waitFor();
        const rows = page.getByRole('grid', { name: 'Operations of both runs' }).getByRole('row');
        assert.equal(await rows.count(), compared!.rows.length + 1);
        const second = rows.nth(2);
        assert.match((await second.textContent()) ?? '', /^≠ arguments/);
        assert.equal(await second.locator('mark.differs').count(), 2);
        assert.equal(await second.locator('mark.differs').nth(1).textContent(), '77');
        await page.getByRole('button', { name: 'Only differences' }).click();
        const differ = compared!.rows.filter(row => row.kind !== 'same').length;
        await until(async () => assert.equal(await rows.count(), differ + 1));
        assert.equal(await page.locator('img').count(), 0);
        await rows.nth(1).getByRole('button').click();
        await page.waitForFunction(name => location.hash.includes(`op=${name}`), report.operations[1]!.name);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
        await page.locator('.lower').scrollIntoViewIfNeeded();
      },
      head => {
        head.compared = comparison(head.report);
      },
    );
  }

  for (const operations of [600, 40_000]) {
    look(
      `durations of ${operations} operations`,
      { operations, processes: 8, stops: true },
      async page => {
        const { task } = await strain(page, async () => {
          await page.getByRole('button', { name: /^More/ }).click();
          await page.getByRole('menuitem', { name: 'Latency' }).click();
          await page
            .getByRole('img', { name: new RegExp(`^Durations over time: .* ${operations.toLocaleString('en')}`) })
            .waitFor();
        });
        // Times depend on the machine.
        assert.ok(task < 1000, `a task took ${task} ms`);
        const table = page.getByRole('region', { name: 'Durations by action' });
        assert.match((await table.getByRole('row', { name: /Enqueue/ }).textContent()) ?? '', /\d ns.*\d (ns|µs)/);
        await page.screenshot({ path: picture(`look-latency-${operations}.png`) });
        await table
          .getByRole('row', { name: /Dequeue/ })
          .getByRole('button')
          .first()
          .click();
        await page.waitForFunction(() => /op=T\d:\d/.test(location.hash));
        await page.locator('.latency .chosen').waitFor();
        await table.getByRole('checkbox').first().uncheck();
        // A click in the plot moves the timeline there.
        const before = await page.evaluate(() => location.hash);
        const { x, y, width } = (await page.locator('.latency .plot').boundingBox())!;
        await page.mouse.click(x + width * 0.3, y + 250);
        await page.waitForFunction(hash => location.hash !== hash, before);
      },
      withFaults,
    );
  }

  look('dragging with Shift measures', {}, async page => {
    const { x, y, width } = (await page.locator('.timeline').boundingBox())!;
    const drag = async () => {
      await page.keyboard.down('Shift');
      await page.mouse.move(x + width * 0.3, y + 80);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.6, y + 80, { steps: 5 });
      await page.mouse.up();
      await page.keyboard.up('Shift');
    };
    const shown = () => page.getByRole('img', { name: /^Timeline of/ }).getAttribute('aria-label');
    const before = await shown();
    await drag();
    await page.locator('.measure', { hasText: /^[\d,]+ ticks, \d+ events$/ }).waitFor();
    await page.screenshot({ path: picture('look-measure.png') });
    // It does not pan, and Escape ends it.
    assert.equal(await shown(), before);
    await page.keyboard.press('Escape');
    await page.locator('.measure').waitFor({ state: 'detached' });
  });

  look(
    'long names are told apart',
    { processes: 4, operations: 60 },
    async page => {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('menuitem', { name: 'Save the timeline as SVG' }).click();
      const svg = readFileSync(await (await saved).path(), 'utf8');
      for (const name of ['eu-1', 'eu-2', 'us-1', 'us-2']) assert.ok(svg.includes(`>${name}<`), name);
      const rows = page.getByRole('grid', { name: 'Steps, newest first' }).getByRole('row');
      const [, process, action] = await rows.nth(2).getByRole('gridcell').allTextContents();
      assert.match(process!, /^(eu|us)-\d$/);
      const part = page.getByRole('region', { name: 'What happened' });
      for (const lane of await part.locator('.lane').allTextContents()) assert.match(lane, /^(eu|us)-\d$/);
      // The values stay, the action is abbreviated.
      assert.match(action!, /\d$/);
      const conjunct = page.locator('li.bad .conjunct code').first();
      const { height } = (await conjunct.boundingBox())!;
      assert.ok(height < 100, `a conjunct is ${height} pixels high`);
    },
    ({ report, timeline }) => {
      const names = ['eu-1', 'eu-2', 'us-1', 'us-2'].map(name => `checkout-service-${name}`);
      timeline!.processes = names;
      for (const shape of timeline!.shapes) {
        shape.action = shape.action.replace('queue', 'queueReservationOfStockInWarehouse');
        shape.pieces[0] = `${shape.action}(`;
        if (shape.args.length === 0) shape.pieces[0] += ')';
      }
      for (const operation of report.operations) {
        operation.process = names[Number(operation.process.slice(1))]!;
        operation.name = operation.name.replace(/^T(\d)/, (_, at) => names[Number(at)]!);
      }
      assert.ok(report.verdict.kind === 'rejected' && report.verdict.evidence.kind === 'stuck');
      const [{ why } = assert.fail()] = report.verdict.evidence.reasons;
      assert.ok(why.kind === 'guard');
      why.conjuncts[1]!.text =
        `Head(queue) = elem \\/ ${'\\E reservation \\in Reservations : reservation.stock > 0 '.repeat(8)}`;
    },
  );
});
