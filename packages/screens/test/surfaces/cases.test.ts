// The shared cases on the surface without pictures: the same rectangles as the player's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBatch } from '../../src/stream/parse.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';
import { cases } from '../support/cases.ts';

for (const { name, what, size, stream, rects } of cases)
  test(`${name}: ${what}`, () => {
    const surface = new HeadlessSurface({ width: size[0], height: size[1] });
    const batch = parseBatch(stream.join('\n'));
    surface.commit(batch.words, batch.length, batch.strings, 0);
    surface.advance(0);
    for (const [id, wanted] of Object.entries(rects)) {
      const { x, y, width, height } = surface.rect(Number(id)) ?? {};
      assert.deepEqual([x, y, width, height], wanted, id);
    }
  });
