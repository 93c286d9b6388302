// Writes a page about a generated queue history: `npm run sample -- OPERATIONS OUT.html [PROCESSES] [accepted|stops]`.
// `npm run sample -- log OUT.html` writes one about a log, `missed` one about operations that missed others, and `views`
// one that is rejected whatever operations see.

import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { missedParts, viewsParts } from './level.ts';
import { logParts } from './log.ts';
import { queueParts } from './queue.ts';

const [operations, out, processes, verdict] = process.argv.slice(2);
if (!operations || !out) throw new Error('usage: sample.ts OPERATIONS OUT.html [PROCESSES] [accepted|stops]');
const plan = {
  operations: Number(operations),
  processes: Number(processes ?? 8),
  fails: verdict !== 'accepted',
  stops: verdict === 'stops',
};
const page = readFileSync(new URL('../../crates/page/viewer.html', import.meta.url), 'utf8');
const special = { log: logParts, missed: missedParts, views: viewsParts }[operations];
const scripts = [...(special ? special() : queueParts(plan))].map(
  ([name, bytes]) =>
    `<script type="application/octet-stream" id="part-${name}">${gzipSync(bytes).toString('base64')}</script>`,
);
writeFileSync(
  out,
  page.replace('<!--omnilink:parts-->', () => scripts.join('\n')),
);
