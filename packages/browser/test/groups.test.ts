// Files of several components: what pages of a build ask for, with the default groups and with a chunk for each component.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, before, test } from 'node:test';
import sluice from '../src/vite/index.ts';
import { app, boxes, built, failures, fileOf, serve } from './support/app.ts';
import { noBrowser, settled, view } from './support/browser.ts';
import type { Built } from './support/build.ts';
import { KILOBYTE, gzipped, withImports } from './support/bytes.ts';
import { PLAIN, REACT, VUE, shopFiles } from './support/shop.ts';

const options = { skip: noBrowser };
const root = app(shopFiles());
let grouped: Built;
let single: Built;
before(async () => {
  grouped = await built(root);
  single = await built(root, { groupKb: 0 });
});

interface Seen {
  readonly said: readonly string[];
  /** Addresses of scripts that were asked for. */
  readonly scripts: readonly string[];
}

/** Opens a page of these components, has each used, and tells what was asked for. */
async function useAll(t: TestContext, of: Built, names: readonly string[]): Promise<Seen> {
  const url = await serve(t, of, boxes(names));
  const { page, said } = await view(t);
  const scripts: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith('.js')) scripts.push(pathname);
  });
  await page.goto(url);
  await settled(page);
  const labels = await page.evaluate(() => {
    const buttons = [...document.querySelectorAll('button')];
    const found = buttons.map(({ textContent }) => textContent.trim());
    for (const button of buttons) button.click();
    return found;
  });
  assert.equal(labels.length, names.length);
  await page.waitForFunction(
    (expected) =>
      [...document.querySelectorAll('button')].every(
        ({ textContent }, index) => textContent.trim() === expected[index],
      ),
    labels.map((label) => label.replace(/1$/, '2')),
  );
  return { said, scripts };
}

const bytesOf = (of: Built, scripts: readonly string[]): number =>
  scripts.reduce((sum, script) => sum + gzipped(of, script), 0);

void test('a page of 50 components asks for at most 10 scripts, each once', options, async (t) => {
  const before = await useAll(t, single, REACT);
  const now = await useAll(t, grouped, REACT);
  for (const [what, { scripts }, of] of [
    ['a chunk for each', before, single],
    ['groups', now, grouped],
  ] as const)
    t.diagnostic(`${what}: ${scripts.length} scripts, ${bytesOf(of, scripts)} bytes by gzip`);
  assert.ok(before.scripts.length > 50, `${before.scripts.length} scripts`);
  assert.ok(now.scripts.length <= 10, now.scripts.join());
  assert.deepEqual([...new Set(now.scripts)], now.scripts);
  assert.ok(bytesOf(grouped, now.scripts) < bytesOf(single, before.scripts));
  assert.deepEqual([...before.said, ...now.said], []);
});

void test('a page of all frameworks has each component take over its own box', options, async (t) => {
  const { scripts, said } = await useAll(t, grouped, [...REACT.slice(0, 8), ...VUE, ...PLAIN]);
  t.diagnostic(`${scripts.length} scripts, ${bytesOf(grouped, scripts)} bytes by gzip`);
  assert.deepEqual(said, []);
});

void test('a page of one component gets its file, and at most 16 KB of others', options, async (t) => {
  const before = await useAll(t, single, ['Part07']);
  const now = await useAll(t, grouped, ['Part07']);
  t.diagnostic(
    `a chunk for each: ${before.scripts.length} scripts, ${bytesOf(single, before.scripts)} bytes by gzip; groups: ${now.scripts.length}, ${bytesOf(grouped, now.scripts)}`,
  );
  assert.ok(now.scripts.includes(fileOf(grouped, 'Part07')));
  const others = new Set(Object.values(grouped.assets.components).map(({ js: [own = ''] }) => own));
  others.delete(fileOf(grouped, 'Part07'));
  assert.deepEqual(
    now.scripts.filter((script) => others.has(script)),
    [],
  );
  const size = fs.statSync(path.join(grouped.folder, 'client', fileOf(grouped, 'Part07'))).size;
  assert.ok(size <= 18 * KILOBYTE, `${size} bytes`);
});

void test('the manifest names existing files alone, and all that a file imports', () => {
  for (const [name, { js, css }] of Object.entries(grouped.assets.components)) {
    assert.deepEqual([...js].toSorted(), withImports(grouped, js.slice(0, 1)), name);
    for (const file of css) assert.ok(fs.existsSync(path.join(grouped.folder, file)), file);
  }
  const known = new Set(
    [...Object.values(grouped.assets.components), ...Object.values(grouped.assets.adapters)].flatMap(
      ({ js }) => js,
    ),
  );
  const files = fs.readdirSync(path.join(grouped.folder, 'client/assets'));
  const left = files.filter(
    (file) =>
      file.endsWith('.js') &&
      !known.has(`/assets/${file}`) &&
      !/^(?:sluice|registry|early|measure)-/.test(file),
  );
  assert.deepEqual(left, []);
});

void test('the list of all components has their new addresses', async () => {
  const assets = path.join(grouped.folder, 'client/assets');
  const file = fs.readdirSync(assets).find((name) => name.startsWith('registry-')) ?? '';
  const module = (await import(path.join(assets, file))) as { default: Record<string, string> };
  const names = Object.keys(grouped.assets.components);
  assert.deepEqual(module.default, Object.fromEntries(names.map((name) => [name, fileOf(grouped, name)])));
});

void test('each component has the styles that it has without groups, and no others', async (t) => {
  const styles = (of: Built): [string, readonly string[]][] =>
    Object.entries(of.assets.components).map(([name, { css }]) => [name, css]);
  assert.deepEqual(styles(grouped), styles(single));
  const url = await serve(t, grouped, boxes(['Part16']));
  const html = await (await fetch(url)).text();
  const text = await Promise.all(
    [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(async ([, address = '']) =>
      (await fetch(new URL(address, url))).text(),
    ),
  );
  const inline = [...html.matchAll(/<style[^>]*>([^<]*)<\/style>/g)].map(([, rules]) => rules);
  const css = [...text, ...inline].join('');
  // Its own, the button's icon, and the badge.
  for (const rule of [/margin:\s*16px/, /#070809|rgb\(7,\s*8,\s*9\)/, /#010101|rgb\(1,\s*1,\s*1\)/])
    assert.match(css, rule);
  assert.doesNotMatch(css, /margin:\s*(?!16px)\d+px/);
});

void test('preloads of a page are named once, and there', options, async (t) => {
  const url = await serve(t, grouped, boxes([...REACT, ...VUE]));
  const html = await (await fetch(url)).text();
  const links = [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, address = '']) => address);
  assert.deepEqual(links, [...new Set(links)]);
  assert.ok(links.length <= 14, links.join());
  for (const link of links) assert.equal((await fetch(new URL(link, url))).status, 200, link);
  const { page } = await view(t);
  const scripts: string[] = [];
  page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
  await page.goto(url);
  await settled(page);
  assert.deepEqual(scripts.filter((script) => script.endsWith('.js')).toSorted(), links.toSorted());
});

void test('components of different frameworks share no file', async () => {
  const files = [REACT, VUE, PLAIN].map((names) => new Set(names.map((name) => fileOf(grouped, name))));
  for (const [index, own] of files.entries())
    for (const other of files.slice(index + 1)) assert.ok([...own].every((file) => !other.has(file)));
  const ofReact = new Set(grouped.assets.adapters['react']?.js);
  for (const name of [...VUE, ...PLAIN])
    for (const file of grouped.assets.components[name]?.js ?? []) assert.ok(!ofReact.has(file), file);
});

void test('a file that is gone fails the boxes of its components, and no others', options, async (t) => {
  const gone = fileOf(grouped, 'Part00');
  const isGone = (name: string): boolean => fileOf(grouped, name) === gone;
  const names = [...REACT.slice(0, 20), ...VUE];
  const lost = names.filter(isGone);
  assert.ok(lost.length > 1 && lost.length < 20, lost.join());
  const url = await serve(t, grouped, boxes(names));
  const { page, said } = await view(t);
  const asked: string[] = [];
  const failed = await failures(page);
  await page.route(`**${gone}*`, async (route) => {
    asked.push(new URL(route.request().url()).search);
    await route.fulfill({ status: 404 });
  });
  await page.goto(url);
  await settled(page);
  assert.deepEqual((await failed()).toSorted(), lost.map((name) => `${name}: code`).toSorted());
  assert.ok(said.some((text) => text.startsWith('[sluice] Part00: code')));
  // The preload, the import that fails with it, and one retry for all boxes.
  assert.equal(asked.filter((query) => query === '?retry').length, 1, asked.join());
  for (const name of names.filter((each) => !isGone(each))) {
    const label = name.startsWith('vue/') ? name.replace('vue/Item', 'item') : name;
    await page.getByText(`${label} 1`).click();
    await page.getByText(`${label} 2`).waitFor();
  }
  await page.getByText('Part00 1').waitFor();
});

void test(
  'a component whose code throws when it is evaluated is told by its file and the cause',
  options,
  async (t) => {
    const broken =
      "if (typeof document !== 'undefined') throw new RangeError('no key is set');\nexport default () => <p>Broken</p>;\n";
    const files = { ...shopFiles(), 'components/Broken.jsx': broken };
    const of = await built(app(files));
    const file = fileOf(of, 'Broken');
    const url = await serve(t, of, [...boxes(['Broken']), ...boxes(['vue/Item0'])]);
    const { page, said } = await view(t);
    await page.addInitScript(() => {
      Object.assign(globalThis, { causes: [] });
      document.addEventListener('sluice:failed', ({ detail }) => {
        const { message, cause } = detail.error as Error;
        (globalThis as unknown as { causes: string[] }).causes.push(`${message}: ${String(cause)}`);
      });
    });
    await page.goto(url);
    await settled(page);
    assert.deepEqual(await page.evaluate('causes'), [`${file}: RangeError: no key is set`]);
    assert.ok(
      said.some((text) => text.includes('[sluice] Broken: code') && text.includes(file)),
      said.join(),
    );
    await page.getByText('item0 1').click();
    await page.getByText('item0 2').waitFor();
  },
);

void test('the code of a box for interaction comes with the first pointer', options, async (t) => {
  const url = await serve(t, grouped, boxes(['Part07', 'vue/Item0'], 'interaction'));
  const { page } = await view(t);
  const scripts: string[] = [];
  page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
  await page.goto(url, { waitUntil: 'networkidle' });
  assert.ok(!scripts.includes(fileOf(grouped, 'Part07')), scripts.join());
  await page.getByText('Part07 1').click();
  await page.getByText('Part07 2').waitFor();
  assert.ok(scripts.includes(fileOf(grouped, 'Part07')));
  assert.ok(!scripts.includes(fileOf(grouped, 'vue/Item0')));
});

void test('a size of groups that is none is refused', () => {
  for (const groupKb of [-1, 1025, Number.NaN]) assert.throws(() => sluice({ groupKb }), RangeError);
});
