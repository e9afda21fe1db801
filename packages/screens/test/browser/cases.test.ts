// The shared cases in Chromium: the player's rectangles, and its pictures within a tolerance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '../support/cases.ts';
import { noBrowser, open } from '../support/chromium.ts';
import { type Picture, readPng } from '../support/png.ts';

/**
 * Share of pixels that may differ by more than so many steps of a channel: edges of corners and turned boxes, which the two smooth in
 * their own way.
 */
const LIMITS = [
  [10, 0.03],
  [96, 0.003],
] as const;

/** Share of pixels that differ by more than the steps. */
function difference(one: Picture, other: Picture, steps: number): number {
  let count = 0;
  for (let at = 0; at < one.pixels.length; at += 4)
    if (
      [0, 1, 2].some(
        (channel) => Math.abs((one.pixels[at + channel] ?? 0) - (other.pixels[at + channel] ?? 0)) > steps,
      )
    )
      count += 1;
  return (4 * count) / one.pixels.length;
}

for (const { name, what, size, stream, rects, picture } of cases)
  test(`${name}: ${what}`, { skip: noBrowser }, async (t) => {
    const [width, height] = size;
    const { page, faults } = await open(t, { width, height });
    await page.evaluate((text) => globalThis.page.commit(text), stream.join('\n'));
    await page.evaluate(() => globalThis.page.still());
    for (const [id, wanted] of Object.entries(rects)) {
      const rect = await page.evaluate((id) => globalThis.page.surface?.rect(id), Number(id));
      assert.deepEqual([rect?.x, rect?.y, rect?.width, rect?.height], wanted, id);
    }
    const mine = readPng(await page.screenshot());
    const theirs = readPng(picture);
    assert.deepEqual([mine.width, mine.height], [theirs.width, theirs.height]);
    // A folder to look at the pictures in.
    const folder = process.env['SLUICE_LOOK'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
    for (const [steps, limit] of LIMITS) {
      const share = difference(mine, theirs, steps);
      assert.ok(share <= limit, `${(100 * share).toFixed(2)} % of the pixels differ by more than ${steps}`);
    }
    assert.deepEqual(faults, []);
  });
