// The pages of golden reports, written by `cargo xtask viewer`.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { file } from './place.ts';

/** A page and its expected content. */
export interface Golden {
  name: string;
  about: string;
  file: string;
  /** Arguments of `omnilink view`. */
  view: string[];
  verdict: 'accepted' | 'rejected' | 'violated' | 'inconclusive' | 'index';
  /** Text on the first screen. */
  says: string;
  /** A conjunct that is not true. */
  conjunct: string | null;
  operations: number;
  bytes: number;
}

const { command, pages } = JSON.parse(readFileSync(file('pages.json'), 'utf8')) as {
  command: string;
  pages: Golden[];
};

export { command, pages };

/** True if `cargo xtask viewer --only` wrote a single page. */
const isOnly = pages.length === 1;

/** The page with this name; undefined if `--only` selected another. Otherwise a missing page is an error. */
export function named(name: string): Golden | undefined {
  const found = pages.find(page => page.name === name);
  if (!found && !isOnly) throw new Error(`no golden report \`${name}\``);
  return found;
}

/** The `file:` URL of a page. */
export function address(page: Golden, fragment = ''): string {
  return pathToFileURL(file(page.file)).href + fragment;
}
