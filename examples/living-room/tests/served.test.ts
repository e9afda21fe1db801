/** The living room as it is served: over HTTP, in Chromium, and on the native player. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { PlacedScreen, WidgetJson } from '@sluice/screens/adopt';
import { HeadlessSurface } from '@sluice/screens/headless';
import { WireReader } from '@sluice/screens/stream';
import { PNG } from 'pngjs';
import { noBrowser, open } from '../../../tests/browser/chromium.js';
import { createCatalogue } from '../../storefront/src/catalogue/catalogue.js';
import { buildPlayer } from '../scripts/build.js';
import { startRoom, type Served } from './server.js';

const run = promisify(execFile);
const target = join(import.meta.dirname, '../../../screens/player/target');
const player = [
  process.env['SLUICE_PLAYER'],
  `${target}/release/sluice-player`,
  `${target}/debug/sluice-player`,
].find((path) => path !== undefined && existsSync(path));
const noPlayer = player === undefined ? 'the player is not built' : false;

let room: Served;

before(async () => {
  room = await startRoom();
});

after(async () => {
  await room.stop();
});

const { products } = createCatalogue();
const best = products
  .filter(({ category }) => category.slug === 'kitchen')
  .toSorted((a, b) => b.sold - a.sold || a.id - b.id);

const textsOf = (widgets: readonly WidgetJson[]): readonly unknown[] =>
  widgets.flatMap(({ values, children = [] }) => [values?.['text'], ...textsOf(children)]);

test('the first screen has the rows, the focus and the data, and shared caches keep none of a viewer', async () => {
  const answer = await fetch(`${room.url}/screen`, { headers: { cookie: 'watched=12.0.99999999.14' } });
  assert.match(answer.headers.get('cache-control') ?? '', /^private/);
  const { screen } = (await answer.json()) as PlacedScreen;
  const texts = textsOf(screen.widgets);
  assert.ok(texts.includes('Watch again'));
  assert.ok(texts.includes(products[11]?.name));
  assert.ok(screen.focus > 0);
  const { again, rows } = screen.state as Record<string, { readonly length: unknown }>;
  assert.equal(JSON.stringify(again?.length), '2');
  assert.ok(rows !== undefined);
  const product = await fetch(`${room.url}/screen?at=product:3`);
  assert.equal(product.headers.get('cache-control'), 'public, max-age=60');
});

test('posters are pictures of their products, and what is none is not found', async () => {
  const answer = await fetch(`${room.url}/posters/3.png`);
  const { width, height } = PNG.sync.read(Buffer.from(await answer.arrayBuffer()));
  assert.deepEqual([width, height], [240, 360]);
  const tag = answer.headers.get('etag') ?? '';
  const again = await fetch(`${room.url}/posters/3.png`, { headers: { 'if-none-match': tag } });
  assert.equal(again.status, 304);
  const statusOf = async (path: string): Promise<number> => (await fetch(room.url + path)).status;
  assert.equal(await statusOf('/posters/3-large.png'), 200);
  assert.equal(await statusOf('/posters/999999.png'), 404);
  assert.equal(await statusOf('/assets/..%2fserver.js'), 404);
  assert.equal(await statusOf('/?at=%3Cscript%3E'), 200);
  assert.doesNotMatch(await (await fetch(`${room.url}/?at=%3Cscript%3E`)).text(), /<script>/);
});

test('the player shows the first screen, opens a product and comes back', { skip: noPlayer }, async () => {
  // As `start.sh` does it: the server has another port than the build knew.
  await buildPlayer(room.folder, 'http://127.0.0.1:9');
  await writeFile(join(room.folder, 'server.json'), JSON.stringify({ server: room.url }));
  const host = new URL(room.url).host;
  const play = async (keys: string): Promise<{ surface: HeadlessSurface; report: Report; png: PNG }> => {
    const [png, record, report] = ['png', 'stream', 'json'].map((end) => join(room.folder, `run.${end}`)) as [
      string,
      string,
      string,
    ];
    await run(
      player ?? '',
      [
        join(room.folder, 'player.js'),
        '--allow-net',
        host,
        '--png',
        png,
        '--record',
        record,
        `--report=${report}`,
        ...(keys === '' ? [] : ['--keys', keys]),
      ],
      { timeout: 60_000 },
    );
    // What the player has drawn, as text.
    const surface = new HeadlessSurface({ width: 1920, height: 1080 });
    for (const { words, length, strings, cause } of new WireReader().push(await readFile(record)))
      surface.commit(words, length, strings, cause);
    surface.advance(1_000);
    return {
      surface,
      report: JSON.parse(await readFile(report, 'utf8')) as Report,
      png: PNG.sync.read(await readFile(png)),
    };
  };
  const first = await play('');
  assert.match(first.surface.tree(), new RegExp(`\\*\\d+ .*posters/${best[0]?.id}\\.png`));
  assert.equal(first.report.errors, 0);
  assert.equal(first.report.widgets, first.surface.widgets);
  assert.deepEqual([first.png.width, first.png.height], [1920, 1080]);
  const product = await play('ArrowRight, ArrowRight, wait 500, Enter, wait 600');
  assert.match(product.surface.tree(), /text="Watch the film"/);
  assert.match(product.surface.tree(), new RegExp(`text="${best[2]?.name}"`));
  const back = await play('ArrowRight, ArrowRight, wait 500, Enter, wait 600, Escape, wait 600');
  assert.match(back.surface.tree(), new RegExp(`\\*\\d+ .*posters/${best[2]?.id}\\.png`));
});

interface Report {
  readonly errors: number;
  readonly widgets: number;
}

test(
  'Chromium takes the first screen over, asks for nothing, and follows keys',
  { skip: noBrowser },
  async (t) => {
    const { page, faults } = await open(t, `${room.url}/?at=product:${best[1]?.id}`, {
      width: 960,
      height: 540,
    });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.waitForFunction(() => 'livingRoom' in globalThis);
    const widgets = (): Promise<number> =>
      page.evaluate(
        () =>
          (globalThis as unknown as { livingRoom: { surface: { widgets: number } } }).livingRoom.surface
            .widgets,
      );
    assert.ok((await widgets()) > 20);
    assert.deepEqual(
      asked.filter((path) => path === '/model.json'),
      [],
    );
    await page.keyboard.press('Enter');
    await page.waitForURL(/film/);
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.search.includes('film'));
    await page.keyboard.press('Escape');
    await page.waitForURL(`${room.url}/`);
    assert.deepEqual(
      faults.filter((fault) => !/GPU stall|GL Driver/.test(fault)),
      [],
    );
  },
);

test('a browser that cannot run the app gets each screen from the server', { skip: noBrowser }, async (t) => {
  const { page } = await open(t, `${room.url}/?remote`, { width: 960, height: 540 });
  await page.waitForFunction(() => document.querySelector('canvas') !== null);
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.keyboard.press('Enter'),
  ]);
  const { at, screen } = (await answer.json()) as PlacedScreen;
  assert.equal(at, `product:${best[0]?.id}`);
  assert.ok(textsOf(screen.widgets).includes('Watch the film'));
  assert.ok(await page.evaluate(() => !('livingRoom' in globalThis)));
});
