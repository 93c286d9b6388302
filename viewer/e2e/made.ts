// Pages about generated histories, with any change to their data: for reports that no golden one has.

import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { IndexHead, RunHead } from '../src/data/types.ts';
import { type Plan, queueParts } from '../test/queue.ts';
import { file } from './place.ts';

const VIEWER = readFileSync(new URL('../../crates/page/viewer.html', import.meta.url), 'utf8');

/** Writes a page with these parts, and returns its URL. */
export function writeParts(name: string, parts: Map<string, Uint8Array>): string {
  const scripts = [...parts].map(
    ([part, bytes]) =>
      `<script type="application/octet-stream" id="part-${part}">${gzipSync(bytes).toString('base64')}</script>`,
  );
  const path = file(`made-${name}.html`);
  writeFileSync(
    path,
    VIEWER.replace('<!--omnilink:parts-->', () => scripts.join('\n')),
  );
  return pathToFileURL(path).href;
}

/** Writes a page about a queue, after `change` has changed its head. Returns its URL and its head. */
export function make(name: string, plan: Partial<Plan>, change: (head: RunHead) => void = () => {}) {
  const parts = queueParts({ operations: 24, processes: 4, fails: true, ...plan });
  const head = JSON.parse(new TextDecoder().decode(parts.get('head'))) as RunHead;
  change(head);
  parts.set('head', new TextEncoder().encode(JSON.stringify(head)));
  return { url: writeParts(name, parts), head };
}

/** Writes a page about many runs, and returns its URL. */
export function makeIndex(name: string, head: Pick<IndexHead, 'runs' | 'overview'>): string {
  const all: IndexHead = {
    schema: 'omnilink.page/1',
    kind: 'index',
    tool: 'OmniLink',
    name: 'runs',
    damaged: [],
    ...head,
  };
  return writeParts(name, new Map([['head', new TextEncoder().encode(JSON.stringify(all))]]));
}
