// Files of several components: what pages of a build ask for, with the default groups and with a chunk for each component.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import { createBuilder } from 'vite';
import {
  type PageTree,
  createPages,
  createRegistry,
  plain,
  respond,
  styleHandler,
} from '../../render/src/index.ts';
import { react } from '../../render/src/adapters/react.ts';
import { vue } from '../../render/src/adapters/vue.ts';
import sluice, { type SluiceOptions } from '../src/vite/index.ts';
import { noBrowser, settled, view } from './support/browser.ts';
import { type Built, build, config } from './support/build.ts';
import { KILOBYTE, gzipped, withImports } from './support/bytes.ts';
import { PLAIN, REACT, VUE, appOf, shopFiles } from './support/shop.ts';

const options = { skip: noBrowser };
const roots: string[] = [];
const root = app(shopFiles());
let grouped: Built;
let single: Built;
before(async () => {
  grouped = await built(root);
  single = await built(root, { groupKb: 0 });
});
after(() => {
  for (const folder of roots) fs.rmSync(folder, { recursive: true });
});

function app(files: Readonly<Record<string, string>>): string {
  const folder = appOf(files);
  roots.push(folder);
  return folder;
}

async function built(of: string, settings: SluiceOptions = {}): Promise<Built> {
  const one = await build(settings, { root: of });
  roots.push(one.folder);
  return one;
}

type Boxes = PageTree['boxes'];

const boxes = (names: readonly string[], hydration: 'load' | 'visible' | 'interaction' = 'load'): Boxes =>
  names.map((component) => ({ component, props: { start: 1 }, hydration }));

/** Serves a page of these boxes at `/`. */
async function serve(t: TestContext, of: Built, tree: Boxes): Promise<string> {
  const registry = createRegistry({ adapters: [react(), vue(), plain] });
  of.register(registry);
  const pages = createPages({ registry, assets: of.manifest, vitals: null });
  const styles = styleHandler(pages);
  const server = http.createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://site');
      const file = path.join(of.folder, 'client', pathname);
      if (await styles(request, response)) return;
      if (pathname === '/') await respond(pages, request, response, { boxes: tree });
      else if (fs.existsSync(file)) {
        response.setHeader('content-type', pathname.endsWith('.css') ? 'text/css' : 'text/javascript');
        fs.createReadStream(file).pipe(response);
      } else response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

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
  const buttons = await page.getByRole('button').all();
  assert.equal(buttons.length, names.length);
  for (const button of buttons) {
    const text = (await button.textContent()) ?? '';
    await button.click();
    const now = text.replace('1', '2').trim();
    await page.waitForFunction(([element, expected]) => element?.textContent?.trim() === expected, [
      await button.elementHandle(),
      text.replace(/1$/, '2').trim(),
    ] as const);
    assert.notEqual(now, text);
  }
  return { said, scripts };
}

const bytesOf = (of: Built, scripts: readonly string[]): number =>
  scripts.reduce((sum, script) => sum + gzipped(of, script), 0);
/** Its component's own file. */
const fileOf = (of: Built, name: string): string => of.assets.components[name]?.js[0] ?? '';

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
  await page.addInitScript(() => {
    Object.assign(globalThis, { failed: [] });
    document.addEventListener(
      'sluice:failed',
      ({ detail }: CustomEventInit<{ component: string; reason: string }>) =>
        (globalThis as unknown as { failed: string[] }).failed.push(
          `${detail?.component}: ${detail?.reason}`,
        ),
    );
  });
  await page.route(`**${gone}*`, async (route) => {
    asked.push(new URL(route.request().url()).search);
    await route.fulfill({ status: 404 });
  });
  await page.goto(url);
  await settled(page);
  const failed = await page.evaluate(() => (globalThis as unknown as { failed: string[] }).failed);
  assert.deepEqual(failed.toSorted(), lost.map((name) => `${name}: code`).toSorted());
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

void test('a changed component changes the file that it is in', async () => {
  const files = (of: Built): readonly string[] => fs.readdirSync(path.join(of.folder, 'client/assets'));
  assert.deepEqual(files(await built(root)), files(grouped));
  const all = shopFiles();
  const code = all['components/Part07.jsx'] ?? '';
  const other = app({
    ...all,
    'components/Part07.jsx': code.replace('useState(start)', 'useState(start + 1)'),
  });
  const changed = files(await built(other)).filter((file) => !files(grouped).includes(file));
  assert.deepEqual(
    changed.map((file) => file.replace(/-[\w-]{8}\.js$/, '')),
    ['components', 'registry', 'sluice'],
  );
});

void test('what a component imports later comes with its styles', options, async (t) => {
  const part = (name: string): string => `import { useState } from 'react';
export default function ${name}() {
  const [more, set] = useState('');
  const open = () => import('./_More.js').then(({ text }) => set(text));
  return <button type="button" onClick={open}>${name} {more}</button>;
}
`;
  const own = await built(
    app({
      'components/First.jsx': part('First'),
      'components/Second.jsx': part('Second'),
      'components/_More.js': "import './_more.css';\nexport const text = 'is more';\n",
      'components/_more.css': 'button { color: rgb(9, 9, 9); }\n',
    }),
  );
  assert.equal(fileOf(own, 'First'), fileOf(own, 'Second'));
  const { page, said } = await view(t);
  await page.goto(await serve(t, own, boxes(['First', 'Second'])));
  await settled(page);
  for (const name of ['First', 'Second']) {
    await page.getByText(name).click();
    await page.getByText(`${name} is more`).waitFor();
  }
  const colour = await page.getByText('First').evaluate((element) => getComputedStyle(element).color);
  assert.equal(colour, 'rgb(9, 9, 9)');
  assert.deepEqual(said, []);
});

void test('a component that others import, also later, works in each place', options, async (t) => {
  const own = await built(
    app({
      'components/Inner.jsx': `import { useState } from 'react';
export const label = 'inner';
export default function Inner({ start }) {
  const [count, set] = useState(start);
  return <button type="button" onClick={() => set(count + 1)}>inner {count}</button>;
}
`,
      'components/Outer.jsx': `import Inner, { label } from './Inner.jsx';
export default ({ start }) => <div title={label}><Inner start={start + 10} /></div>;
`,
      'components/Later.jsx': `import { useState } from 'react';
export default function Later() {
  const [label, set] = useState('later');
  return <button type="button" onClick={() => import('./Outer.jsx').then((module) => set(typeof module.default))}>{label}</button>;
}
`,
      'components/Alone.jsx': `export default () => <button type="button" onClick={(event) => (event.target.textContent = 'done')}>alone</button>;\n`,
    }),
  );
  const { page, said } = await view(t);
  await page.goto(await serve(t, own, boxes(['Inner', 'Outer', 'Later', 'Alone'])));
  await settled(page);
  for (const [text, then] of [
    ['inner 1', 'inner 2'],
    ['inner 11', 'inner 12'],
    ['later', 'function'],
    ['alone', 'done'],
  ] as const) {
    await page.getByText(text, { exact: true }).click();
    await page.getByText(then, { exact: true }).waitFor();
  }
  assert.deepEqual(said, []);
});

void test('source maps of groups name the sources of components', async () => {
  const folder = app({
    'components/First.jsx': 'export default () => <b>first</b>;\n',
    'components/Second.jsx': 'export default () => <b>second</b>;\n',
  });
  const builder = await createBuilder({
    ...config({ manifest: 'assets.json' }),
    root: folder,
    environments: {
      client: { build: { outDir: path.join(folder, 'client'), sourcemap: true } },
      ssr: { build: { outDir: path.join(folder, 'server') } },
    },
  });
  await builder.buildApp();
  const assets = path.join(folder, 'client/assets');
  const [file = ''] = fs.readdirSync(assets).filter((name) => /^components-.*\.js$/.test(name));
  const code = fs.readFileSync(path.join(assets, file), 'utf8');
  assert.deepEqual(code.match(/sourceMappingURL=.*/g), [`sourceMappingURL=${file}.map`]);
  const map = JSON.parse(fs.readFileSync(path.join(assets, `${file}.map`), 'utf8')) as { sources: string[] };
  const own = map.sources
    .map((source) => path.resolve(assets, source))
    .filter((source) => source.startsWith(folder));
  assert.deepEqual(
    own.toSorted(),
    ['First', 'Second'].map((name) => path.join(folder, `components/${name}.jsx`)),
  );
});

void test('a size of groups that is none is refused', () => {
  for (const groupKb of [-1, 1025, Number.NaN]) assert.throws(() => sluice({ groupKb }), RangeError);
});
