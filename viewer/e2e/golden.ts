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

/** The page with this name; undefined if only another one was asked for. */
export function named(name: string): Golden | undefined {
  return pages.find(page => page.name === name);
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
