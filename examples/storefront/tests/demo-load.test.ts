/** The visitors of `make demo-load`. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { build } from './build.js';
import { startShop } from './server.js';
import type { Shop } from './server.js';

const home = join(import.meta.dirname, '..');
let folder: string;
let shop: Shop;

before(async () => {
  await mkdir(join(home, 'dist'), { recursive: true });
  folder = await mkdtemp(join(home, 'dist/test-'));
  await build(folder);
  shop = await startShop({}, 'server.js', folder);
});

after(async () => {
  await shop.stop();
  await rm(folder, { recursive: true, force: true });
});

async function load(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(home, 'scripts/demo-load.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, out, err };
}

test('visitors_look_around_and_nothing_fails', async () => {
  const { code, out, err } = await load('--url', shop.url, '--visitors', '3', '--visits', '6');
  assert.equal(code, 0, err);
  const [, pages, failed] = /(\d+) pages, .* (\d+) failed/.exec(out) ?? [];
  assert.ok(Number(pages) >= 12, out);
  assert.equal(failed, '0', out);
});

test('a_wrong_option_and_an_address_without_a_shop_are_told', async () => {
  const wrong = await load('--visitors', 'many');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--visitors takes a number from 1 to 500\nusage:/);
  const nobody = await load('--url', 'http://127.0.0.1:9');
  assert.equal(nobody.code, 1);
  assert.match(nobody.err, /Nothing answers at http:\/\/127\.0\.0\.1:9/);
});
