// The pages of golden reports, written by `cargo xtask viewer`, and the directory for their pictures.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

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

const directory = process.env.OMNILINK_PAGES;
if (!directory) throw new Error('OMNILINK_PAGES is not set: run `cargo xtask viewer`');

const { command, pages } = JSON.parse(readFileSync(join(directory, 'pages.json'), 'utf8')) as {
  command: string;
  pages: Golden[];
};
const pictures = join(directory, 'pictures');
mkdirSync(pictures, { recursive: true });

export { command, pages };

/** True if `cargo xtask viewer --only` wrote a single page. */
const isOnly = pages.length === 1;

/** The page with this name; undefined if `--only` selected another. Otherwise a missing page is an error. */
export function named(name: string): Golden | undefined {
  const found = pages.find(page => page.name === name);
  if (!found && !isOnly) throw new Error(`no golden report \`${name}\``);
  return found;
}

/** The path of a file in the directory of pages. */
export function file(name: string): string {
  return join(directory!, name);
}

/** The `file:` URL of a page. */
export function address(page: Golden, fragment = ''): string {
  return pathToFileURL(file(page.file)).href + fragment;
}

/** The path of a picture. */
export function picture(name: string): string {
  return join(pictures, name);
}
