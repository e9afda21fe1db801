// A list of 100,000 rows in Chromium: React, focus, list and surface together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Measures } from '../../src/index.ts';
import { chromiumPage, noBrowser } from '../support/chromium.ts';
import { pixel, readPng } from '../support/png.ts';

interface Posters {
  measures(): Measures;
  widgets(): number;
  /** Whether a frame is to come. */
  isBusy(): boolean;
}

declare global {
  var posters: Posters;
}

/** A list, its content, and for each row of three screens a slot, a row, and six posters with their texts. */
const WIDGETS_MAX = 2 + Math.ceil((3 * 720) / 130 + 1) * 14;

test(
  'a long scroll keeps its widgets, and each key that counts has its frame',
  { skip: noBrowser },
  async (t) => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('../support/page/scroll.tsx', import.meta.url))],
      bundle: true,
      format: 'esm',
      jsx: 'automatic',
      write: false,
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const { page, faults } = await chromiumPage(t, outputFiles[0]?.text ?? '', { width: 1280, height: 720 });
    await page.waitForFunction(() => 'posters' in globalThis && globalThis.posters.widgets() > 0);
    let keys = 0;
    const press = async (): Promise<void> => {
      keys += 1;
      await page.keyboard.down('ArrowDown');
      await page.waitForFunction((count) => globalThis.posters.measures().key_to_frame.count >= count, keys);
      assert.ok((await page.evaluate(() => globalThis.posters.widgets())) <= WIDGETS_MAX);
    };
    for (let row = 0; row < 10; row += 1) await press();
    await page.keyboard.up('ArrowDown');
    const {
      key_to_command,
      frames_per_second = 0,
      widgets,
    } = await page.evaluate(() => globalThis.posters.measures());
    assert.equal(key_to_command.count, keys);
    assert.ok(frames_per_second > 0);
    assert.ok((widgets ?? 0) > 100);
    // The scroll ends: the row with the focus stands at the lower edge, its first poster in a white frame.
    await page.waitForFunction(() => !globalThis.posters.isBusy());
    const picture = readPng(await page.screenshot());
    assert.equal(pixel(picture, 100, 720 - 20 - 2), '#ffffff');
    assert.deepEqual(faults, []);
  },
);
