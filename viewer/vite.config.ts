// Builds the page: one file with inlined script and style, and a content security policy that allows only these two.
// The build is reproducible, so that the committed page can be compared with a fresh one.

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const PAGE = resolve(dirname(fileURLToPath(import.meta.url)), '../crates/page/viewer.html');
/** Maximum size in kilobytes, compressed. */
const BUDGET = 120;

/** Inlines script and style, writes the page where the crate expects it, and fails if it exceeds the budget. */
function onePage(): Plugin {
  return {
    name: 'one-page',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const scripts: string[] = [];
        const styles: string[] = [];
        let page = '';
        for (const name of Object.keys(bundle).sort()) {
          const output = bundle[name]!;
          delete bundle[name];
          if (output.type === 'chunk') scripts.push(output.code);
          else if (name.endsWith('.css')) styles.push(text(output.source));
          else if (name.endsWith('.html')) page = text(output.source);
          else throw new Error(`unsupported output \`${name}\`: only HTML, CSS and one script can be inlined`);
        }
        if (scripts.length !== 1) throw new Error(`expected one script, found ${scripts.length}`);
        // The HTML parser must not see an end tag or the start of a comment. In a module both can only occur in
        // strings, templates and regular expressions, where `\x3c` means the same.
        const script = scripts[0]!.replace(/<(?=\/script|!--)/gi, '\\x3c');
        const style = styles.join('\n');
        if (/<\/style/i.test(style)) throw new Error('the style contains its own end tag');
        const policy = [
          "default-src 'none'",
          `script-src ${hash(script)}`,
          `style-src ${hash(style)}`,
          'img-src data: blob:',
          "connect-src 'none'",
          "base-uri 'none'",
          "form-action 'none'",
        ].join('; ');
        page = page
          .replace(/\s*<script[^>]*><\/script>/g, '')
          .replace(/\s*<link rel="stylesheet"[^>]*>/g, '')
          .replace(
            '<meta charset="utf-8">',
            tag => `${tag}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
          )
          .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
          .replace('</body>', () => `  <!--omnilink:parts-->\n    <script type="module">${script}</script>\n  </body>`);
        const size = gzipSync(page, { level: 9 }).length / 1000;
        if (size > BUDGET) throw new Error(`the page takes ${size.toFixed(1)} kB compressed, more than ${BUDGET} kB`);
        mkdirSync(dirname(PAGE), { recursive: true });
        writeFileSync(PAGE, page);
        console.log(`viewer.html: ${(page.length / 1000).toFixed(1)} kB, ${size.toFixed(1)} kB compressed`);
      },
    },
  };
}

function text(source: string | Uint8Array): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

function hash(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}

export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: false } },
  },
  plugins: [onePage()],
});
