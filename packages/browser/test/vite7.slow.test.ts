// Vite 7, which builds with Rollup and esbuild: the same chunks and the same manifest.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type * as Vite from 'vite';
import { installIfStale } from '../../react/test/versions/install.ts';
import type * as Own from '../src/vite/index.ts';
import { FIXTURE, build, config } from './support/build.ts';
import { noBrowser, put, settled, view } from './support/browser.ts';
import { type Box, openSite } from './support/site.ts';
import { KILOBYTE, gzipped, withImports } from './support/bytes.ts';

const FOLDER = path.join(import.meta.dirname, 'vite7');

void test('Vite 7 builds the components, styles and runtime that Vite 8 does', async (t) => {
  installIfStale(FOLDER);
  const within = fs.mkdtempSync(path.join(FOLDER, 'node_modules/.own-'));
  t.after(() => fs.rmSync(within, { recursive: true }));
  // Below the folder, so that the plugin finds this Vite first.
  fs.cpSync(path.join(import.meta.dirname, '../src'), path.join(within, 'src'), { recursive: true });
  const load = (file: string): Promise<unknown> => import(pathToFileURL(path.join(FOLDER, file)).href);
  const vite = (await load('node_modules/vite/dist/node/index.js')) as typeof Vite;
  assert.match(vite.version, /^7\./);
  const { default: sluice } = (await load(
    path.relative(FOLDER, path.join(within, 'src/vite/index.ts')),
  )) as typeof Own;
  const manifest = path.join(within, 'sluice-assets.json');
  const builder = await vite.createBuilder({
    root: FIXTURE,
    configFile: false,
    logLevel: 'error',
    esbuild: { jsx: 'automatic' },
    ...(config().resolve && { resolve: { alias: config().resolve?.alias ?? {} } }),
    plugins: [sluice({ manifest })],
    environments: {
      client: { build: { outDir: path.join(within, 'client') } },
      ssr: { build: { outDir: path.join(within, 'server') } },
    },
  });
  await builder.buildApp();

  const latest = await build();
  const assets = JSON.parse(fs.readFileSync(manifest, 'utf8')) as Own.Assets;
  const site = await openSite({ ...latest, assets });
  t.after(() => site.close());
  assert.deepEqual(Object.keys(assets.components), Object.keys(latest.assets.components));
  assert.deepEqual(Object.keys(assets.adapters), Object.keys(latest.assets.adapters));
  const built = { ...latest, folder: within, assets };
  for (const [name, { js, css }] of Object.entries(assets.components)) {
    assert.deepEqual([...js].toSorted(), withImports(built, js.slice(0, 1)), name);
    const texts = css.map((file) => fs.readFileSync(path.join(within, file), 'utf8').replace(/\s/g, ''));
    const others = latest.assets.components[name]?.css ?? [];
    assert.deepEqual(
      texts,
      others.map((file) => fs.readFileSync(path.join(latest.folder, file), 'utf8').replace(/\s/g, '')),
      name,
    );
  }
  assert.deepEqual(withImports(built, [assets.runtime]), [assets.runtime]);
  // Its minifier leaves 1 to 2 % more than that of Vite 8, for which the bound is 4 KB.
  assert.ok(gzipped(built, assets.runtime) <= 4.1 * KILOBYTE, `${gzipped(built, assets.runtime)} bytes`);
  const server = (await import(pathToFileURL(path.join(within, 'server/components.js')).href)) as {
    names: readonly string[];
  };
  assert.ok(server.names.includes('Counter'), server.names.join());

  const ownFiles = Object.values(assets.components).map(({ js: [own] }) => own);
  assert.ok(new Set(ownFiles).size < ownFiles.length / 2, ownFiles.join());
  if (noBrowser !== false) return;
  fs.cpSync(path.join(within, 'client'), path.join(latest.folder, 'client'), { recursive: true });
  const { page, said } = await view(t);
  const boxes: Box[] = [
    { n: 'Counter', on: 'load', props: { start: 1 } },
    { n: 'Adder', v: '2.0.0', on: 'load', props: { start: 1 } },
    { n: 'preact/Stepper', a: 'preact', on: 'load', props: { start: 1 } },
    { n: 'vue/Tally', a: 'vue', on: 'load', props: { start: 1 } },
    { n: 'plain/Note', a: 'plain', on: 'load', props: { text: 'note' } },
  ];
  await page.goto(put(site, { boxes }));
  await settled(page);
  for (const [text, then] of [
    ['add: 1', 'add: 2'],
    ['sum: 1', 'sum: 11'],
    ['step 1', 'step 2'],
    ['tally 1', 'tally 2'],
    ['note', 'NOTE'],
  ] as const) {
    await page.getByText(text, { exact: true }).click();
    await page.getByText(then, { exact: true }).waitFor();
  }
  assert.deepEqual(said, []);
});
