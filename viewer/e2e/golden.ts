// The pages of golden reports, as `cargo xtask viewer` wrote them, and where pictures of them go.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A page, and what is expected of it. */
export interface Golden {
  name: string;
  about: string;
  file: string;
  /** What comes after `omnilink view`. */
  view: string[];
  verdict: 'accepted' | 'rejected' | 'violated' | 'inconclusive' | 'index';
  /** What is on the first screen. */
  says: string;
  /** A conjunct that is not true. */
  conjunct: string | null;
  operations: number;
  bytes: number;
}

const directory = process.env.OMNILINK_PAGES;
if (!directory) throw new Error('OMNILINK_PAGES names no directory: run `cargo xtask viewer`');

const { command, pages } = JSON.parse(readFileSync(join(directory, 'pages.json'), 'utf8')) as {
  command: string;
  pages: Golden[];
};
const pictures = join(directory, 'pictures');
mkdirSync(pictures, { recursive: true });

export { command, pages };

/** True if `cargo xtask viewer --only` wrote a single page. */
const isOnly = pages.length === 1;

/** The page with this name; undefined if only another one was asked for. A test without its page is a mistake. */
export function named(name: string): Golden | undefined {
  const found = pages.find(page => page.name === name);
  if (!found && !isOnly) throw new Error(`there is no golden report \`${name}\``);
  return found;
}

/** A file among the pages. */
export function file(name: string): string {
  return join(directory!, name);
}

/** The address of a page as a file. */
export function address(page: Golden, fragment = ''): string {
  return pathToFileURL(file(page.file)).href + fragment;
}

/** Where a picture goes. */
export function picture(name: string): string {
  return join(pictures, name);
}
