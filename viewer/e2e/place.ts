// The directory of the tested pages, from the environment, and that of their pictures.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const directory = process.env.OMNILINK_PAGES;
if (!directory) throw new Error('OMNILINK_PAGES is not set: run `cargo xtask viewer`');

const pictures = join(directory, 'pictures');
mkdirSync(pictures, { recursive: true });

/** The path of a file in the directory of pages. */
export function file(name: string): string {
  return join(directory!, name);
}

/** The path of a picture. */
export function picture(name: string): string {
  return join(pictures, name);
}
