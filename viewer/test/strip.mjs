// A loader that lets Node run the viewer's TypeScript: strips types with the same transformer as Vite.

import { readFile } from 'node:fs/promises';
import { register } from 'node:module';

if (!process.env.OMNILINK_STRIP) {
  process.env.OMNILINK_STRIP = '1';
  register(import.meta.url);
}

export async function load(url, context, next) {
  if (!/\.tsx?$/.test(url)) return next(url, context);
  const { transformWithOxc } = await import('vite');
  const file = new URL(url);
  const { code } = await transformWithOxc(await readFile(file, 'utf8'), file.pathname);
  return { format: 'module', source: code, shortCircuit: true };
}
