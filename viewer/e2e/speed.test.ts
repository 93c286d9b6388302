// A table of page speed: ours at three sizes, and Porcupine's format at the smallest of them.
// Sizes and element counts have budgets. Times depend on the machine, so they are printed, and fail only beyond limits
// that no machine should reach.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { nodes, open, strain } from './browser.ts';
import { address, named } from './golden.ts';
import { writePeer } from './peer.ts';
import { file } from './place.ts';

interface Row {
  page: string;
  bytes: number;
  nodes: number;
  /** Milliseconds from opening until the verdict, or the drawing, is visible. */
  open: number;
  /** The longest task and the longest time between two frames while panning and zooming. */
  task: number;
  frame: number;
}

async function measure(name: string, path: string, url: string, move: (page: Page) => Promise<void>): Promise<Row> {
  const { page, untilVerdict, end } = await open(url);
  const opened = await untilVerdict();
  await page.waitForTimeout(1500);
  const { task, frame } = await strain(page, () => move(page));
  const row = { page: name, bytes: statSync(path).size, nodes: await nodes(page), open: opened, task, frame };
  await end();
  return row;
}

/** Zooms, pans and shows the whole history, at key repeat speed. */
async function byKeys(page: Page): Promise<void> {
  for (const key of [...'ddddaaaawwwwddddssss', '0', ...'wwwwddddssss', 'e']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(30);
  }
}

/** Porcupine's format can only be scrolled. */
async function byWheel(page: Page): Promise<void> {
  await page.mouse.move(400, 200);
  for (let turn = 0; turn < 30; turn += 1) {
    await page.mouse.wheel(turn % 2 === 0 ? 4000 : 400, 0);
    await page.waitForTimeout(30);
  }
}

const sizes = ['queue-10k', 'queue-100k', 'queue-500k'].map(named);
const skip = sizes[0] ? false : '`--only` selected another page';

test('size budgets and page speed', { skip }, async t => {
  const rows: Row[] = [];
  for (const found of sizes) {
    if (found) rows.push(await measure(found.name, file(found.file), address(found), byKeys));
  }
  const first = rows[0]!;
  writePeer(file('queue-10000.txt'), file('peer.html'));
  const peer = await measure('Porcupine, 10k', file('peer.html'), pathToFileURL(file('peer.html')).href, byWheel);
  t.diagnostic(
    line(['page', 'bytes', 'elements', 'until shown', 'longest task', 'longest frame', 'time against 10k peer']),
  );
  for (const row of [...rows, peer]) {
    const times = [row.open, row.task, row.frame].map(time => `${time.toFixed(0)} ms`);
    const ratio = (row.open / peer.open).toFixed(2);
    t.diagnostic(line([row.page, String(row.bytes), String(row.nodes), ...times, ratio]));
  }
  for (const row of rows) {
    assert.ok(row.nodes <= 2000, `${row.page} has ${row.nodes} elements`);
    assert.ok(row.task < 1000, `${row.page} has a task of ${row.task} ms`);
    assert.ok(row.open < 30_000, `${row.page} took ${row.open} ms`);
  }
  assert.ok(first.open < peer.open, 'the verdict takes longer than a drawing of the whole history');
});

function line(cells: string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(15) : cell.padStart(14))).join(' ');
}
