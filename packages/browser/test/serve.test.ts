// The guide's program, as a newcomer writes it: hydrated in development and from its build, with the same files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { noBrowser, settled, view } from './support/browser.ts';
import { buildProject, filesIn, projectOf, running } from './support/program.ts';

const files = filesIn('browser.md', 'One program');

/** A style and a CSS Module beside the component. */
function styled(root: string): void {
  const file = path.join(root, 'components/Counter.jsx');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(path.join(root, 'components/Counter.css'), 'button { color: rgb(1, 2, 3); }');
  fs.writeFileSync(file, `import './Counter.css';\n${text.replace('<button ', '<button className="wide" ')}`);
}

void test('the guide has one program, and it and its component are at most 25 lines', () => {
  assert.deepEqual([...files.keys()], ['vite.config.js', 'components/Counter.jsx', 'server.js']);
  const lines = [...files.values()].flatMap((text) => text.split('\n').filter((line) => line.trim() !== ''));
  assert.ok(lines.length <= 25, `${lines.length} lines`);
});

void test(
  'in development the page has its styles at once, is hydrated, and changes with its files',
  { skip: noBrowser },
  async (t) => {
    const root = projectOf(files);
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
  const root = projectOf(files);
  fs.mkdirSync(path.join(root, 'public/assets'), { recursive: true });
  for (const name of OWN_FILES) fs.writeFileSync(path.join(root, 'public/assets', name), '<svg/>');
  styled(root);
  buildProject(root);
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
    const own = filesIn('browser.md', 'From page to page');
    assert.deepEqual([...own.keys()], ['components/Menu.jsx', 'server.js']);
    const root = projectOf([...files, ...own]);
    if (mode === 'production') buildProject(root);
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
  const root = projectOf(files);
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
