// Colours of TLA+: tokens make up the line, whatever it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBefore, tokensOf } from '../src/panels/highlight.ts';

function kinds(line: string, open = 0): string {
  const { tokens } = tokensOf(line, open);
  assert.equal(tokens.map(token => token.text).join(''), line);
  return tokens
    .filter(token => token.kind !== 'plain' && token.text.trim() !== '')
    .map(token => `${token.kind} ${token.text}`)
    .join(' | ');
}

test('tokens have kinds', () => {
  assert.equal(kinds('EXTENDS Naturals, Sequences'), 'keyword EXTENDS');
  assert.equal(kinds('Dequeue(elem) =='), 'defined Dequeue');
  assert.equal(
    kinds('    /\\ \\E q \\in DOMAIN f : UNCHANGED q'),
    'keyword \\E | keyword \\in | keyword DOMAIN | keyword UNCHANGED',
  );
  assert.equal(kinds('x = "a (* b" \\* rest IF'), 'string "a (* b" | comment \\* rest IF');
  assert.equal(kinds('a (* b (* c *) d *) IF'), 'comment (* b (* c *) d *) | keyword IF');
  assert.equal(kinds('still *) THEN', 1), 'comment still *) | keyword THEN');
  assert.equal(kinds('"open'), '');
  assert.equal(kinds('queue # <<>> /\\ Head(queue) = elem'), '');
});

test('comments span lines', () => {
  assert.deepEqual(openBefore(['a', '(* b', '(* c *)', 'd *) e', 'f']), [0, 0, 1, 1, 0]);
});
