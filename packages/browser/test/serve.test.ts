// The guide's program, as a newcomer writes it: hydrated in development and from its build, with the same files.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type TestContext, after, test } from 'node:test';
import { eventually } from '../../../tests/support/eventually.ts';
import { noBrowser, settled, view } from './support/browser.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const guide = fs.readFileSync(path.join(REPOSITORY, 'docs/guide/browser.md'), 'utf8');
/** Files of a section of the guide. */
function filesOf(title: string): readonly (readonly [name: string, text: string])[] {
  const [, section = ''] = new RegExp(`## ${title}\\n([^]*?)\\n## `).exec(guide) ?? [];
  return [...section.matchAll(/```jsx?\n\/\/ (\S+)\n([^]*?)```/g)].map(([, name = '', text = '']) => [
    name,
    text,
  ]);
}

const files = filesOf('One program');

const roots: string[] = [];
after(() => {
  for (const root of roots) fs.rmSync(root, { recursive: true, force: true });
});

/** The project of the guide, with a style and a CSS Module beside its component. */
function project(): string {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-serve-')));
  roots.push(root);
  fs.mkdirSync(path.join(root, 'components'));
  for (const [name, text] of files) fs.writeFileSync(path.join(root, name), text);
  fs.writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
  fs.symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
  return root;
}

function styled(root: string): void {
  const file = path.join(root, 'components/Counter.jsx');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(path.join(root, 'components/Counter.css'), 'button { color: rgb(1, 2, 3); }');
  fs.writeFileSync(file, `import './Counter.css';\n${text.replace('<button ', '<button className="wide" ')}`);
}

function buildOf(root: string): void {
  execFileSync(
    process.execPath,
    [path.join(REPOSITORY, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error'],
    {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
    },
  );
}

/** Runs the project's program. */
async function running(
  t: TestContext,
  root: string,
  mode: string,
): Promise<{ url: string; said: () => string }> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const env = { ...process.env, NODE_ENV: mode, PORT: String(port) };
  const child = spawn(process.execPath, ['server.js'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
  const url = `http://localhost:${port}`;
  await eventually(
    async () => {
      assert.equal(child.exitCode, null, said);
      return (await fetch(url)).ok;
    },
    { deadlineMs: 60_000, what: 'an answer' },
  );
  return { url, said: () => said };
}

void test('the guide has one program, and it and its component are at most 25 lines', () => {
  assert.deepEqual(
    files.map(([name]) => name),
    ['vite.config.js', 'components/Counter.jsx', 'server.js'],
  );
  const lines = files.flatMap(([, text]) => text.split('\n').filter((line) => line.trim() !== ''));
  assert.ok(lines.length <= 25, `${lines.length} lines`);
});

void test(
  'in development the page has its styles at once, is hydrated, and changes with its files',
  { skip: noBrowser },
  async (t) => {
    const root = project();
    styled(root);
    const { url } = await running(t, root, 'development');
    assert.match(
      await (await fetch(url)).text(),
      /<style data-sluice-dev>button \{ color: rgb\(1, 2, 3\); \}<\/style>/,
    );
    const { page, said } = await view(t);
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
    await page.goto(url);
    await settled(page);
    await page.getByText('3 so far').click();
    await page.getByText('4 so far').waitFor();
    assert.equal(await page.locator('style[data-sluice-dev]').count(), 0);
    const file = path.join(root, 'components/Counter.jsx');
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('so far', 'by now'));
    await page.getByText('by now').waitFor();
    assert.match(await (await fetch(url)).text(), /by now/);
    assert.equal((await fetch(`${url}/none`)).status, 404);
    assert.deepEqual(said, []);
  },
);

/** Files of the folder `public`. Some of their names look as if they were made of contents. */
const OWN_FILES = ['hero-Portrait.svg', 'IMG_0042.svg', 'photo-20260115.svg', 'logo-Dark_404.svg'];

void test('the build is served with its files, and is hydrated', { skip: noBrowser }, async (t) => {
  const root = project();
  fs.mkdirSync(path.join(root, 'public/assets'), { recursive: true });
  for (const name of OWN_FILES) fs.writeFileSync(path.join(root, 'public/assets', name), '<svg/>');
  styled(root);
  buildOf(root);
  const { url, said: printed } = await running(t, root, 'production');
  const { page, said } = await view(t);
  page.on('response', (response) => {
    if (response.status() >= 400) console.log('RESP', response.status(), response.url());
  });
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  await page.goto(url);
  await settled(page);
  await page.getByText('3 so far').click();
  await page.getByText('4 so far').waitFor();
  const colour = await page.getByText('4 so far').evaluate((element) => getComputedStyle(element).color);
  assert.equal(colour, 'rgb(1, 2, 3)');
  assert.deepEqual(said, []);
  const html = await (await fetch(url)).text();
  const script = /src="(\/assets\/[^"]+)"/.exec(html)?.[1] ?? '';
  const kept = (await fetch(url + script)).headers;
  assert.equal(kept.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.match(String(kept.get('content-type')), /javascript/);
  // Of the folder `public`, whose files change under their names.
  for (const name of OWN_FILES) {
    const own = await fetch(`${url}/assets/${name}`);
    assert.equal(own.status, 200);
    assert.doesNotMatch(String(own.headers.get('cache-control')), /immutable/, name);
  }
  for (const [target, status] of [
    ['/none', 404],
    ['/assets/none.js', 404],
    ['/../package.json', 404],
    ['/assets/..%2f..%2f..%2fserver.js', 404],
    ['/%', 404],
  ] as const)
    assert.equal((await fetch(url + target)).status, status, target);
  // `fetch` would make another address of these, and so would `new URL` in the app: of the host `none`.
  for (const target of ['//none/', '/\\none/', '/\\/none/', '\\none/']) {
    const socket = net.connect(Number(new URL(url).port), 'localhost');
    socket.end(`GET ${target} HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n`);
    assert.match(await text(socket), /^HTTP\/1\.1 400 /, target);
  }
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
  assert.equal(printed(), '');
});

for (const mode of ['production', 'development'])
  void test(`the guide's menu stays from page to page, in ${mode}`, { skip: noBrowser }, async (t) => {
    const root = project();
    const own = filesOf('From page to page');
    assert.deepEqual(
      own.map(([name]) => name),
      ['components/Menu.jsx', 'server.js'],
    );
    for (const [name, text] of own) fs.writeFileSync(path.join(root, name), text);
    if (mode === 'production') buildOf(root);
    const { url, said: printed } = await running(t, root, mode);
    const { page, said } = await view(t);
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
    await page.goto(url);
    await settled(page);
    await page.getByPlaceholder('Search').fill('typed');
    await page.getByText('4 so far').click();
    let documents = 0;
    page.on('domcontentloaded', () => (documents += 1));
    await page.getByText('Our shop').click();
    await page.getByText('8 so far').click();
    await page.getByText('9 so far').waitFor();
    assert.deepEqual([await page.title(), page.url()], ['Our shop', `${url}/shop`]);
    assert.equal(await page.getByPlaceholder('Search').inputValue(), 'typed');
    await page.evaluate(() => history.back());
    await page.getByText('4 so far').waitFor();
    assert.equal(await page.getByPlaceholder('Search').inputValue(), 'typed');
    assert.equal(documents, 0);
    assert.deepEqual(said, []);
    assert.equal(mode === 'production' ? printed() : '', '');
  });

void test('without a build, production says what to do', async () => {
  const root = project();
  const env = { ...process.env, NODE_ENV: 'production', PORT: '0' };
  const child = spawn(process.execPath, ['server.js'], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => (said += String(text)));
  assert.deepEqual(await once(child, 'close'), [1, null]);
  assert.match(
    said,
    /There is no build in .*: run `npx vite build` first, or `sluice dev` while you develop/,
  );
});
