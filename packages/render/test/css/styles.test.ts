// Styles of pages: URLs that the set gives, what is under them, and which are refused.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';
import { eventually } from '../../../../tests/support/eventually.js';
import { readKey, writeKey } from '../../src/css/key.js';
import { cssModule } from '../../src/css/modules.js';
import { createStyles, type Styles, type StylesOptions } from '../../src/css/styles.js';
import { createServer } from '../../src/http/handler.js';
import { styleHandler } from '../../src/pages/http.js';
import { createPages } from '../../src/pages/pages.js';
import { createRegistry, type Registry } from '../../src/registry/registry.js';
import { textOf } from '../pages/support.js';
import { listen } from '../support/server.js';

const FILES: Readonly<Record<string, string>> = {
  'reset.css': 'body { margin: 0 }',
  'base.css': '.base { color: black }',
  'card.css': '@import "./base.css"; .card { color: red; background: url(./img/a.png) }',
  'list.css': '@import "./base.css"; .card { color: blue } .card:hover { top: 0 } .list { color: blue }',
  'a.module.css': '.title { composes: box from "./b.module.css"; color: green }',
  'b.module.css': '.box { padding: 1px } .title { margin: 0 }',
  'broken.css': '.ok { color: red } .x { color: } } .y { color: blue }',
};

async function project(t: TestContext, files = FILES): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'sluice-css-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(root, name), text);
  return root;
}

function registryOf(components: Readonly<Record<string, readonly string[]>>): Registry {
  const registry = createRegistry();
  for (const [name, css] of Object.entries(components))
    registry.register(name, () => `<p>${name}</p>`, { css });
  return registry;
}

const COMPONENTS = { List: ['list.css'], Card: ['card.css'], Module: ['a.module.css'], None: [] };

async function styled(
  root: string,
  names: readonly string[],
  options: StylesOptions = {},
  registry = registryOf(COMPONENTS),
): Promise<{ styles: Styles; href: string; css: string }> {
  const styles = createStyles(registry, { root, secret: 's', ...options });
  const components = await Promise.all(names.map(async (name) => registry.find(name)));
  const found = components.filter((component) => component !== undefined);
  await styles.prepare(found);
  const href = styles.of(found)?.href ?? '';
  const served = href === '' ? undefined : await styles.serve(keyOf(href));
  return { styles, href, css: served?.css ?? '' };
}

function keyOf(href: string): string {
  return href.slice('/_css/'.length, -'.css'.length);
}

void test('the URL depends on the set alone, and not on the order on the page or the process', async (t) => {
  const root = await project(t);
  const one = await styled(root, ['Card', 'List', 'Module', 'None', 'Card']);
  const other = await styled(root, ['Module', 'List', 'Card']);
  assert.equal(one.href, other.href);
  assert.equal(one.css, other.css);
  assert.notEqual(one.href, (await styled(root, ['Card', 'List'])).href);
  assert.equal((await styled(root, ['None'])).href, '');
});

void test('styles are in the order of the registry, and what they import comes once and before them', async (t) => {
  const root = await project(t);
  const { css } = await styled(root, ['Card', 'List'], { base: ['reset.css'] });
  const places = ['body{margin:0}', '.base{', '.list{color:#00f}', '.card{color:red'].map((part) =>
    css.indexOf(part),
  );
  assert.ok(!places.includes(-1), css);
  assert.deepEqual(
    places.toSorted((left, right) => left - right),
    places,
    css,
  );
  assert.ok(!css.includes('@import'));
  assert.equal(css.split('.base{').length, 2);
});

void test('relative addresses in styles are those of the project, or what the app makes of them', async (t) => {
  const root = await project(t);
  assert.match((await styled(root, ['Card'])).css, /url\(\/img\/a\.png\)/);
  const assetUrl = (file: string): string => `https://cdn.example/${path.basename(file)}?1`;
  assert.match((await styled(root, ['Card'], { assetUrl })).css, /url\(https:\/\/cdn\.example\/a\.png\?1\)/);
});

void test('classes of CSS Modules are named by the path of their file, the same for components and styles', async (t) => {
  const root = await project(t);
  const { title } = cssModule('a.module.css', root);
  const [own, composed] = (title ?? '').split(' ');
  assert.match(own ?? '', /^\w+_title$/);
  assert.match(composed ?? '', /^\w+_box$/);
  const { css } = await styled(root, ['Module']);
  assert.ok(css.includes(`.${own}{color:green}`), css);
  assert.ok(css.includes(`.${composed}{padding:1px}`), css);
  assert.ok(css.indexOf(`.${composed}{`) < css.indexOf(`.${own}{`), 'what is composed comes first');
  assert.notEqual(cssModule('b.module.css', root)['title'], own);
  const elsewhere = await project(t);
  assert.deepEqual(cssModule('a.module.css', elsewhere), cssModule('a.module.css', root));
});

void test('another content has another URL, also where only an imported file differs', async (t) => {
  const root = await project(t);
  const before = await styled(root, ['Card']);
  await writeFile(path.join(root, 'base.css'), '.base { color: white }');
  const after = await styled(root, ['Card']);
  assert.notEqual(before.href, after.href);
  assert.match(after.css, /\.base\{color:#fff\}/);
});

void test('a URL that this app has not made is refused', async (t) => {
  const root = await project(t);
  const { styles, href } = await styled(root, ['Card', 'List']);
  const key = keyOf(href);
  assert.ok(await styles.serve(key));
  const forged = writeKey({ ids: [1, 2], content: 'AAAAAAAA' }, 'another secret');
  for (const bad of [
    '',
    'x',
    forged,
    key.replace(/^./, 'x'),
    `${key}A`,
    key.slice(1),
    '../secret',
    `${key}/../x`,
  ]) {
    if (bad !== key) assert.equal(await styles.serve(bad), undefined, bad);
  }
  fc.assert(
    fc.property(
      fc.nat(key.length - 1),
      fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '_', '-', '.'),
      (at, character) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        // The last character of each part may have bits that no byte has.
        const read = readKey(changed, 's');
        assert.ok(read === undefined || writeKey(read, 's') === key);
      },
    ),
    { seed },
  );
});

void test('a key gives back what it was made of', () => {
  const id = fc.nat(2 ** 32 - 1);
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 500 }), fc.stringMatching(/^[\w-]{8}$/), (ids, content) => {
      assert.deepEqual(readKey(writeKey({ ids, content }, 's'), 's'), { ids, content });
    }),
    { seed, numRuns: 50 },
  );
});

void test('a render does not wait for styles, and small ones are in the page once they are compiled', async (t) => {
  const root = await project(t);
  const registry = registryOf(COMPONENTS);
  const pages = createPages({ registry, styles: { root } });
  const html = async (): Promise<string> =>
    textOf(await pages.render({ boxes: [{ component: 'Card' }] }, {}, { delivery: 'whole' }));
  assert.match(await html(), /<link rel="stylesheet" href="\/_css\/[\w.-]+\.css">/);
  const inline = await eventually(async () => {
    const text = await html();
    return text.includes('<style>.base{') ? text : undefined;
  });
  assert.ok(!inline.includes('stylesheet'));
  const large = createPages({ registry, styles: { root, inlineBytesMax: 10 } });
  const linked = async (): Promise<string> =>
    textOf(await large.render({ boxes: [{ component: 'Card' }] }, {}, { delivery: 'whole' }));
  const href = /\/_css\/[\w.-]+\.css/.exec(await linked())?.[0] ?? '';
  assert.ok((await large.styles.serve(keyOf(href)))?.isExact);
  assert.match(await linked(), /stylesheet/);
});

void test('styles that would end their element are linked', async (t) => {
  const root = await project(t, { 'x.css': '.x::after { content: "</style><script>alert(1)</script>" }' });
  const registry = registryOf({ X: ['x.css'] });
  const pages = createPages({ registry, styles: { root } });
  const html = async (): Promise<string> =>
    textOf(await pages.render({ boxes: [{ component: 'X' }] }, {}, { delivery: 'whole' }));
  const href = /\/_css\/[\w.-]+\.css/.exec(await html())?.[0] ?? '';
  assert.match((await pages.styles.serve(keyOf(href)))?.css ?? '', /alert/);
  assert.ok(!(await html()).includes('alert'));
});

void test('a file that is broken or missing costs its own styles alone, and somebody is told', async (t) => {
  const root = await project(t);
  const warnings: string[] = [];
  const registry = registryOf({ Bad: ['broken.css', 'missing.css', 'list.css'] });
  const { css } = await styled(root, ['Bad'], { onWarning: (warning) => warnings.push(warning) }, registry);
  assert.match(css, /\.ok\{color:red\}/);
  assert.match(css, /\.list\{color:#00f\}/);
  assert.ok(
    warnings.some((warning) => warning.includes('broken.css')),
    warnings.join('\n'),
  );
  assert.ok(
    warnings.some((warning) => warning.includes('missing.css')),
    warnings.join('\n'),
  );
});

void test('files that import each other come to an end', async (t) => {
  const root = await project(t, {
    'a.css': '@import "b.css"; .a{color:red}',
    'b.css': '@import "a.css"; .b{color:red}',
  });
  const { css } = await styled(root, ['X'], {}, registryOf({ X: ['a.css'] }));
  assert.match(css, /\.b\{color:red\}\.a\{color:red\}|\.a,\.b|\.b,\.a/);
});

void test('what is imported under a condition is under it, with all that it imports', async (t) => {
  const root = await project(t, {
    'x.css': '@import "wide.css" screen and (width > 1000px); @import "l.css" layer(low); .x { top: 0 }',
    'wide.css': '@import "shared.css"; .wide { top: 0 }',
    'l.css': '@import "shared.css" print; @import "x.css" print; .l { top: 0 }',
    'shared.css': '.shared { left: 0 }',
    'y.css': '@import url("https://fonts.example/f.css"); .y { top: 0 }',
  });
  const { css } = await styled(
    root,
    ['X', 'Y'],
    {},
    registryOf({ X: ['x.css'], Y: ['y.css', 'shared.css'] }),
  );
  assert.match(css, /@media screen and \(width>1000px\)\{\.shared\{left:0\}\.wide\{top:0\}\}/);
  assert.match(css, /@layer low\{\.l\{top:0\}\}/);
  assert.match(css, /@media print\{@layer low\{\.shared\{left:0\}\}\}/);
  assert.match(css, /^@import "https:\/\/fonts\.example\/f\.css";/);
  assert.match(css, /\.x,?.*\.y\{top:0\}\.shared\{left:0\}$/);
});

void test('a new build has the styles of the old one where a folder keeps them', async (t) => {
  const root = await project(t);
  const keep = path.join(root, 'kept');
  const options = { keep, secret: undefined } as unknown as StylesOptions;
  const { href, css } = await styled(root, ['Card'], options);
  await eventually(async () => (await readdir(keep)).some((name) => name.endsWith('.css')));
  await writeFile(path.join(root, 'card.css'), '.card { color: yellow }');
  const renamed = registryOf({ Other: ['list.css'] });
  const next = createStyles(renamed, { root, keep });
  assert.deepEqual(await next.serve(keyOf(href)), { css, isExact: true });
  assert.equal(await next.serve(keyOf(href).replace(/^../, 'AA')), undefined);
});

void test('without such a folder, an old URL has the styles of today and is not kept for long', async (t) => {
  const root = await project(t);
  const { href } = await styled(root, ['Card']);
  await writeFile(path.join(root, 'card.css'), '.card { color: yellow }');
  const registry = registryOf({ New: ['list.css'], ...COMPONENTS });
  const pages = createPages({ registry, styles: { root, secret: 's' } });
  const origin = await listen(t, createServer(styleHandler(pages)));
  const old = await fetch(`${origin}${href}`);
  assert.equal(old.status, 200);
  assert.equal(old.headers.get('cache-control'), 'public, max-age=60');
  assert.match(await old.text(), /\.card\{color:#ff0\}/);
});

void test('files of styles are for ever, and unknown ones are not found', async (t) => {
  const root = await project(t);
  const registry = registryOf(COMPONENTS);
  const pages = createPages({ registry, styles: { root } });
  const html = await textOf(
    await pages.render({ boxes: [{ component: 'Card' }] }, {}, { delivery: 'whole' }),
  );
  const href = /\/_css\/[\w.-]+\.css/.exec(html)?.[0] ?? '';
  const origin = await listen(t, createServer(styleHandler(pages)));
  const good = await fetch(`${origin}${href}`);
  assert.deepEqual(
    ['content-type', 'cache-control', 'x-content-type-options'].map((name) => good.headers.get(name)),
    ['text/css; charset=utf-8', 'public, max-age=31536000, immutable', 'nosniff'],
  );
  assert.match(await good.text(), /\.card\{/);
  assert.equal((await fetch(`${origin}${href}`, { method: 'HEAD' })).status, 200);
  const bad = await fetch(`${origin}/_css/AAAA.AAAAAAAA.AAAAAAAAAAAA.css`);
  assert.deepEqual([bad.status, bad.headers.get('cache-control')], [404, 'no-store']);
  assert.equal((await fetch(`${origin}${href}`, { method: 'POST' })).status, 405);
});

void test('workers that start at once share one secret', async (t) => {
  const root = await project(t);
  await mkdir(path.join(root, 'kept'), { recursive: true });
  const hrefs = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const options = { keep: 'kept', secret: undefined } as unknown as StylesOptions;
      return (await styled(root, ['Card'], options)).href;
    }),
  );
  assert.equal(new Set(hrefs).size, 1);
  assert.deepEqual(
    (await readdir(path.join(root, 'kept'))).filter((name) => name.startsWith('secret')),
    ['secret'],
  );
});
