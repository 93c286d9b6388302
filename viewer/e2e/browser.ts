// A browser with instrumented pages: records requests, errors and timings.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Debian's path by default. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

let browser: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'],
  });
  return browser;
}

/** Closes the browser. */
export async function close(): Promise<void> {
  await (await browser)?.close();
}

/** An instrumented page. */
export interface Watched {
  page: Page;
  /** Requested URLs. */
  requests: string[];
  /** Console errors and uncaught exceptions. */
  errors: string[];
  /** Milliseconds from the start of navigation until the heading with the verdict was painted. */
  untilVerdict(): Promise<number>;
  /** Violations of the content security policy. */
  violations(): Promise<string[]>;
  end(): Promise<void>;
}

/** Runs in the page before any other script: records when the verdict is painted, and policy violations. */
function watch(): void {
  const notes = { verdict: 0, violations: [] as string[], tasks: [] as number[] };
  Object.defineProperty(window, '__notes', { value: notes });
  document.addEventListener('securitypolicyviolation', event => {
    notes.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
  });
  const look = () => {
    if (!document.querySelector('header h1, #canvas > svg')) return;
    observer.disconnect();
    // The first callback runs before the frame with the heading is painted, the second one after.
    requestAnimationFrame(() => requestAnimationFrame(() => (notes.verdict = performance.now())));
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true, characterData: true });
  new PerformanceObserver(list => notes.tasks.push(...list.getEntries().map(entry => entry.duration))).observe({
    type: 'longtask',
    buffered: true,
  });
}

type Notes = { verdict: number; violations: string[]; tasks: number[] };

function notes(page: Page): Promise<Notes> {
  return page.evaluate(() => (window as unknown as { __notes: Notes }).__notes);
}

/** Opens a page. */
export async function open(url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await (await launch()).newContext({ viewport: { width: 1440, height: 900 }, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await context.addInitScript(watch);
  context.setDefaultTimeout(20000);
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', request => requests.push(request.url()));
  page.on('pageerror', error => errors.push(String(error)));
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('dialog', dialog => {
    errors.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return {
    page,
    requests,
    errors,
    async untilVerdict() {
      await page.waitForFunction(() => (window as unknown as { __notes: Notes }).__notes.verdict > 0, null, {
        timeout: 60_000,
      });
      return (await notes(page)).verdict;
    },
    violations: async () => (await notes(page)).violations,
    end: () => context.close(),
  };
}

/** The number of elements of the page. */
export function nodes(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll('*').length);
}

/** Serious and critical findings of axe, one line each. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    type Finding = { impact: string; id: string; nodes: { target: string[]; failureSummary: string }[] };
    const axe = (window as unknown as { axe: { run(): Promise<{ violations: Finding[] }> } }).axe;
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(node => `${id}: ${node.target.join(' ')} ${node.failureSummary}`),
      );
  });
}

/** The longest task and the longest time between frames on the main thread while `act` runs. */
export async function strain(page: Page, act: () => Promise<void>): Promise<{ task: number; frame: number }> {
  await page.evaluate(() => {
    const notes = (window as unknown as { __notes: Notes & { frame: number; stop: boolean } }).__notes;
    notes.tasks.length = 0;
    notes.frame = 0;
    notes.stop = false;
    let last = performance.now();
    const tick = (now: number) => {
      notes.frame = Math.max(notes.frame, now - last);
      last = now;
      if (!notes.stop) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await act();
  await page.waitForTimeout(200);
  return page.evaluate(() => {
    const notes = (window as unknown as { __notes: Notes & { frame: number; stop: boolean } }).__notes;
    notes.stop = true;
    return { task: Math.max(0, ...notes.tasks), frame: notes.frame };
  });
}

/** Fails if the page requested anything but itself. */
export function assertAlone(requests: string[], own: string): void {
  const others = requests.filter(url => !url.startsWith(own) && !/^(data|blob):/.test(url));
  assert.deepEqual(others, [], 'requests that leave the page');
}

/** Normalizes blanks and case for text search. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Repeats assertions about what an input changes, until they hold: the page draws after the input, not with it. */
export async function until(assertions: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + 5000; ; await new Promise(resolve => setTimeout(resolve, 20))) {
    try {
      return await assertions();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
