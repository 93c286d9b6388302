// User interactions: from the verdict to the blocked operation by keyboard, shared links, filters, assumptions, the
// time scale, print, copies and exports.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { findings, nodes, open, plain, type Watched } from './browser.ts';
import { address, type Golden, named } from './golden.ts';
import { picture } from './place.ts';

/** Opens a golden page, runs `act`, and fails on errors or policy violations. */
function walk(name: string, what: string, act: (page: Page, golden: Golden, watched: Watched) => Promise<void>): void {
  const found = named(name);
  if (!found) return;
  test(`${name}: ${what}`, async () => {
    const watched = await open(address(found), { acceptDownloads: true });
    await watched.untilVerdict();
    await act(watched.page, found, watched);
    assert.deepEqual(watched.errors, []);
    assert.deepEqual(await watched.violations(), []);
    await watched.end();
  });
}

/** The list of steps. */
export function steps(page: Page): Locator {
  return page.getByRole('grid', { name: 'Steps, newest first' });
}

/** The selected row in the list of steps. */
export function selected(page: Page): Locator {
  return steps(page).locator('[role=row][aria-selected=true]');
}

/** Presses Tab until a button whose text contains `text` has the focus. */
async function tabTo(page: Page, text: string, most = 80): Promise<void> {
  for (let presses = 0; presses < most; presses += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => document.activeElement?.closest('button')?.textContent ?? '');
    if (name.includes(text)) return;
  }
  assert.fail(`\`${text}\` not reached after pressing Tab ${most} times`);
}

/** Runs a command by its title, through the palette. */
async function runCommand(page: Page, title: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type(title);
  await page.keyboard.press('Enter');
}

for (const name of ['guard-false', 'queue-100k']) {
  walk(name, 'by keys alone from the verdict to the conjunct to the operation', async (page, { conjunct, says }) => {
    await selected(page).filter({ hasText: 'not legal' }).waitFor();
    // Moves away first, so that returning is observable.
    for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
    await selected(page).filter({ hasNotText: 'not legal' }).waitFor();
    await tabTo(page, conjunct!);
    await page.screenshot({ path: picture(`${name}-conjunct.png`) });
    await page.keyboard.press('Enter');
    await selected(page).filter({ hasText: 'not legal' }).waitFor();
    const announced = await page.getByRole('status').allTextContents();
    assert.ok(
      announced.some(text => text.includes(says.split(' ')[0]!)),
      announced.join('\n'),
    );
  });
}

/** Types a query and waits for its matches. */
async function find(page: Page, query: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(query);
  await page
    .getByText(/\d match(es)?$/)
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
}

walk('queue-10k', 'a link restores the view', async (page, golden) => {
  await find(page, 'op:Dequeue');
  for (const key of ['j', 'j', 'j', 'j', 'o', 'w']) await page.keyboard.press(key);
  await page.waitForFunction(() => location.hash.includes('q=') && location.hash.includes('scale=time'));
  await page.waitForTimeout(500);
  const hash = await page.evaluate(() => location.hash);
  const there = await selected(page).textContent();
  const other = await open(address(golden, hash));
  await other.untilVerdict();
  await selected(other.page).filter({ hasNotText: 'not legal' }).waitFor();
  assert.equal(await selected(other.page).textContent(), there);
  await other.page.waitForTimeout(500);
  assert.equal(await other.page.evaluate(() => location.hash), hash);
  assert.equal(await other.page.getByRole('searchbox').inputValue(), 'op:Dequeue');
  assert.deepEqual(other.errors, []);
  await other.end();
});

walk('queue-10k', 'a filter finds operations, and n and N move between them', async page => {
  const at = () => page.evaluate(() => /op=([^&]*)/.exec(location.hash)?.[1] ?? '');
  /** Presses a key, and returns the operation that is selected then. */
  const press = async (key: string) => {
    const before = await at();
    await page.keyboard.press(key);
    await page.waitForFunction(before => {
      const now = /op=([^&]*)/.exec(location.hash)?.[1];
      return now !== undefined && now !== before;
    }, before);
    return at();
  };
  await find(page, 'op:DequeueEmpty');
  // The first link after loading names the operation that the page opens at, before any key is pressed.
  await page.waitForFunction(() => location.hash.includes('op='));
  const first = await press('n');
  assert.notEqual(await press('n'), first);
  assert.equal(await press('N'), first);
  await page.screenshot({ path: picture('filter.png') });
});

walk('queue-100k', 'Enter in the filter box goes to the first match, then to the next', async page => {
  await page.keyboard.press('/');
  await page.keyboard.type('op:Dequeue');
  // Pressed before the search has ended.
  await page.keyboard.press('Enter');
  for (const at of [1, 2, 3]) {
    await page.getByText(new RegExp(`^${at} of [\\d,]+ matches$`)).waitFor();
    await page.keyboard.press('Enter');
  }
  // The count does not push the toolbar to a second line.
  assert.ok((await page.locator('.toolbar').evaluate(element => element.clientHeight)) < 50);
});

walk('guard-false', 'an assumption hides interpretations that violate it', async page => {
  await page
    .getByRole('button', { name: /^Assume the state after/ })
    .first()
    .click();
  await page
    .getByText(/\d of \d+ orders fit/)
    .first()
    .waitFor();
  await page.waitForFunction(() => location.hash.includes('focus='));
  await page.screenshot({ path: picture('focus.png') });
});

walk(
  'builtin',
  'operations that contradict each other are a chain, one of them fails, and no states are shown',
  async page => {
    const label = await page.getByRole('img', { name: /^Timeline of/ }).getAttribute('aria-label');
    assert.match(label ?? '', /not legal: \S+ dequeue\(\) = "\w+"/);
    const side = page.getByRole('complementary', { name: 'Explanation' });
    assert.ok((await side.locator('.chain li').count()) > 1);
    assert.match((await side.textContent()) ?? '', /Together these contradict each other/);
    assert.doesNotMatch((await side.textContent()) ?? '', /possible state|No operation could be next/);
    assert.equal(await page.locator('.part .box.blocked').count(), 1);
    await page.getByRole('grid', { name: 'Operations, by start' }).getByRole('row').first().waitFor();
  },
);

walk('program-order', 'every blocked operation is named, and the page opens at the first', async page => {
  await selected(page).filter({ hasText: 'not legal' }).filter({ hasText: 'elem: 2' }).waitFor();
  const label = await page.getByRole('img', { name: /^Timeline of/ }).getAttribute('aria-label');
  assert.match(label ?? '', /not legal: .*Dequeue\(\) = elem: 2.*Dequeue\(\) = elem: 3/);
  await page.screenshot({ path: picture('program-order.png') });
});

walk('interpretations', 'an operation that took some steps is still blocked', async page => {
  await selected(page).filter({ hasText: 'not legal' }).waitFor();
  await page.keyboard.press('j');
  await selected(page).filter({ hasNotText: 'not legal' }).waitFor();
  await page.keyboard.press('k');
  await selected(page).filter({ hasText: 'not legal' }).waitFor();
});

walk('interpretations', 'the toolbar is one line', async page => {
  const height = () => page.locator('.toolbar').evaluate(element => element.clientHeight);
  for (const width of [1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    assert.ok((await height()) < 50, `${await height()} pixels at ${width}`);
  }
});

walk('queue-10k', 'changing the scale keeps the selection', async page => {
  const before = await selected(page).textContent();
  await page.keyboard.press('o');
  await page.waitForFunction(() => location.hash.includes('scale=time'));
  assert.equal(await selected(page).textContent(), before);
  await page.waitForTimeout(200);
  await page.screenshot({ path: picture('time-scale.png') });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForTimeout(200);
  await page.screenshot({ path: picture('time-scale-dark.png') });
});

walk('queue-100k', 'shows the whole history', async page => {
  await page.keyboard.press('0');
  await page.waitForTimeout(1000);
  await page.screenshot({ path: picture('whole.png') });
  assert.ok((await nodes(page)) <= 2000);
  await page.keyboard.press('e');
  await selected(page).filter({ hasText: 'not legal' }).waitFor();
});

walk('guard-false', 'print has the verdict and the reasons', async (page, { conjunct }) => {
  await page.emulateMedia({ media: 'print' });
  for (const place of [
    page.getByRole('heading', { level: 1 }),
    page.getByRole('heading', { name: 'The rule it breaks' }),
    page.getByRole('complementary', { name: 'Explanation' }).getByText(conjunct!).first(),
  ]) {
    assert.ok(await place.isVisible());
  }
  const pdf = await page.pdf({ path: picture('print.pdf'), format: 'A4' });
  assert.ok(pdf.length > 10_000);
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.screenshot({ path: picture('print.png') });
});

walk('guard-false', 'copied as Markdown', async (page, { says, conjunct }) => {
  await runCommand(page, 'Copy as Markdown');
  await page.waitForTimeout(200);
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(text.includes('Rejected') && text.includes(says) && text.includes(conjunct!), text);
  assert.match(text, /^\| .*T\d.* \|$/m);
});

for (const kind of ['SVG', 'PNG']) {
  walk('guard-false', `the visible part as ${kind}`, async page => {
    const saved = page.waitForEvent('download');
    await runCommand(page, `Save the timeline as ${kind}`);
    const path = await (await saved).path();
    const bytes = readFileSync(path);
    if (kind === 'PNG') assert.equal(bytes.subarray(1, 4).toString('latin1'), 'PNG');
    else assert.match(bytes.toString('utf8'), /^(<\?xml[^>]*>\s*)?<svg[\s\S]*Dequeue[\s\S]*<\/svg>\s*$/);
  });
}

walk('log-two-phase', 'logged values are beside those of the specification', async page => {
  await selected(page).filter({ hasText: 'TMCommit' }).waitFor();
  await page.getByRole('tab', { name: 'State' }).click();
  const logged = page.getByRole('region', { name: 'Logged values' });
  const row = (name: string) => logged.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
  // The event has no explanation, so there is only the state before it.
  await logged.getByRole('columnheader', { name: 'Specification, before the event' }).waitFor();
  assert.match((await row('tmState').textContent()) ?? '', /≠tmState"committed""init"/);
  await page.screenshot({ path: picture('logged.png') });
  assert.deepEqual(await findings(page), []);
  // A vector clock is shown on demand.
  const clock = logged.getByText('{"rm-0":2,"tm":5,"rm-1":1,"rm-2":1}');
  assert.equal(await clock.isVisible(), false);
  await logged.getByText('Logged fields').click();
  await clock.waitFor();
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('j');
  await logged.getByRole('columnheader', { name: 'Specification, after the event' }).waitFor();
  const agreed = row('tmPrepared');
  assert.match((await agreed.textContent()) ?? '', /=tmPreparedwith "rm-2"{"rm-0", "rm-1", "rm-2"}/);
});

walk('log-state', 'values that rules compare are beside parts of variables', async page => {
  await selected(page).filter({ hasText: 'Restart' }).waitFor();
  await page.getByRole('tab', { name: 'State' }).click();
  const logged = page.getByRole('region', { name: 'Logged values' });
  const row = logged.getByRole('row').filter({ hasText: 'votedFor["n3"]' });
  assert.match((await row.textContent()) ?? '', /≠votedFor\["n3"\]Nil"n1"/);
  assert.deepEqual(await findings(page), []);
});

walk('log-raft', 'messages are arrows to later events', async (page, _, { errors }) => {
  await selected(page).filter({ hasText: 'HandleRequestVote' }).waitFor();
  const saved = page.waitForEvent('download');
  await runCommand(page, 'Save the timeline as SVG');
  const svg = readFileSync(await (await saved).path(), 'utf8');
  // Heads of arrows are filled triangles; other lines have no fill.
  const heads = [...svg.matchAll(/<polyline points="(\S+) (\S+) (\S+)" [^>]*fill="#/g)];
  assert.ok(heads.length > 2, `${heads.length} arrows`);
  for (const [, tip, left, right] of heads) {
    const [to, a, b] = [tip, left, right].map(point => Number(point!.split(',')[0]));
    assert.ok(to! > (a! + b!) / 2, 'a message is received after it was sent');
  }
  assert.match(svg, /RequestVote/);
  assert.deepEqual(errors, []);
});

walk('hostile', 'recorded markup is inert', async page => {
  for (const key of ['j', 'j', 'k', 'x', 'o', '0']) await page.keyboard.press(key);
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    await page.waitForTimeout(100);
    await page.screenshot({
      path: picture(`hostile-${(await tab.textContent())!.trim().toLowerCase().replace(/\W+/g, '-')}.png`),
    });
  }
  const harm = await page.evaluate(() => ({
    pwned: 'pwned' in window,
    elements: document.querySelectorAll('img, b[onclick], [onerror], [onload], [onclick], svg[onload], iframe').length,
    scripts: [...document.scripts].filter(script => script.text.trim() === 'window.pwned=1').length,
    polluted: ({} as { value?: unknown }).value !== undefined,
    // Also checks labels and titles.
    unseen: /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.querySelector('#app')?.outerHTML ?? ''),
  }));
  assert.deepEqual(harm, { pwned: false, elements: 0, scripts: 0, polluted: false, unseen: false });
});

walk('hostile', 'long values do not leave the smallest part', async page => {
  const card = (await page.getByRole('region', { name: 'What happened' }).locator('.card').boundingBox())!;
  for (const box of await page.locator('.part .box').all()) {
    const { x, width } = (await box.boundingBox())!;
    assert.ok(x + width <= card.x + card.width, `${(await box.textContent())?.slice(0, 60)} ends at ${x + width}`);
  }
});

walk('missed', 'an operation that missed others links to them', async page => {
  const listed = page.getByRole('region', { name: 'Why it is accepted' }).getByRole('listitem').getByRole('button');
  const other = await listed.nth(1).textContent();
  await listed.first().click();
  const chosen = page.getByRole('region', { name: 'Selected operation' });
  await page.screenshot({ path: picture('missed-selected.png') });
  assert.deepEqual(await findings(page), []);
  await chosen.getByRole('button', { name: other! }).click();
  await chosen.waitFor({ state: 'hidden' });
});

walk('views', 'the page says what operations may see', async page => {
  const why = page.getByRole('region', { name: 'The rule it breaks' });
  for (const words of ['not explained', 'has to see', 'may miss']) await why.getByText(words).first().waitFor();
});

walk('runs', 'a link leads from the index to a run', async page => {
  await page.getByRole('main').getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: /Rejected|Violated|Accepted/ }).waitFor();
});

for (const name of ['guard-false', 'interpretations', 'accepted', 'inconclusive']) {
  walk(name, 'every tab is accessible', async page => {
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await page.waitForTimeout(150);
      const title = (await tab.textContent())!.replace(/\W+|\d+/g, '').toLowerCase();
      await page.screenshot({ path: picture(`${name}-${title}.png`) });
      assert.deepEqual(await findings(page), [], title);
    }
  });
}

walk('guard-false', 'help lists the keys, and Escape closes it', async page => {
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.screenshot({ path: picture('help.png') });
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
});

walk('guard-false', 'on a narrow screen nothing is cut off', async page => {
  await page.setViewportSize({ width: 420, height: 900 });
  await page.waitForTimeout(200);
  await page.screenshot({ path: picture('narrow.png'), fullPage: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${wide} pixels too wide`);
});

for (const name of ['guard-false', 'hostile']) {
  walk(name, 'the page without scripts is one text', async (page, { says, conjunct }) => {
    const { elements, text } = await page.evaluate(() => {
      // With scripts enabled, the browser treats the content as text.
      const inside = document.querySelector('noscript')?.textContent ?? '';
      const { body } = new DOMParser().parseFromString(inside, 'text/html');
      return { elements: [...body.querySelectorAll('*')].map(({ tagName }) => tagName), text: body.textContent ?? '' };
    });
    assert.deepEqual(elements, ['PRE']);
    assert.ok(plain(text).includes(plain(says)) && text.includes(conjunct!), text.slice(0, 2000));
  });
}
