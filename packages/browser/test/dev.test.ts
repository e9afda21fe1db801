// The server for development: changes of files are in the browser and on the server, and neither begins anew.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestContext, test } from 'node:test';
import reactPlugin from '@vitejs/plugin-react';
import { eventually } from '../../../tests/support/eventually.ts';
import { type DevServer, createDevServer } from '../src/dev/index.ts';
import { FIXTURE, config } from './support/build.ts';
import { noBrowser, settled, view } from './support/browser.ts';

const options = { skip: noBrowser };
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

interface Dev extends DevServer {
  /** Replaces text in a component's file. */
  change(file: string, from: string, to: string): void;
  write(file: string, text: string): void;
}

/** Serves a copy of the fixture, which is not below `node_modules`: Vite watches nothing there. */
async function serve(t: TestContext, { refresh }: { refresh: boolean }): Promise<Dev> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-dev-'));
  fs.cpSync(FIXTURE, root, { recursive: true });
  fs.cpSync(fileURLToPath(new URL('fixtures/dev', import.meta.url)), root, { recursive: true });
  fs.symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
  const shared = config();
  const server = await createDevServer({
    entry: '/server.js',
    vite: {
      ...shared,
      root,
      // Not below the root: Vite may write to it after it is closed.
      cacheDir: path.join(REPOSITORY, 'node_modules/.cache/sluice-dev'),
      server: { fs: { allow: [root, REPOSITORY] } },
      plugins: [...(shared.plugins ?? []), ...(refresh ? [reactPlugin()] : [])],
    },
  });
  t.after(async () => {
    await server.close();
    fs.rmSync(root, { recursive: true, force: true });
  });
  const write = (file: string, text: string): void =>
    fs.writeFileSync(path.join(root, 'components', file), text);
  return {
    ...server,
    write,
    change(file, from, to) {
      const text = fs.readFileSync(path.join(root, 'components', file), 'utf8');
      assert.ok(text.includes(from), `${file} has no ${from}`);
      write(file, text.replace(from, to));
    },
  };
}

const pageOf = async ({ url }: DevServer): Promise<string> => (await fetch(url)).text();

void test(
  'a changed component is in the browser with its state, and the page is not loaded again',
  options,
  async (t) => {
    const dev = await serve(t, { refresh: true });
    const { page, said } = await view(t);
    await page.goto(dev.url);
    await settled(page);
    await page.evaluate('globalThis.isSame = true');
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    dev.change('Counter.jsx', "label = 'add'", "label = 'plus'");
    await page.getByText('plus: 2').waitFor();
    dev.change('Counter.module.css', 'rgb(1, 2, 3)', 'rgb(7, 8, 9)');
    await eventually(async () => {
      const colour = await page.getByText('plus: 2').evaluate((element) => getComputedStyle(element).color);
      return colour === 'rgb(7, 8, 9)';
    });
    assert.equal(await page.evaluate('globalThis.isSame'), true);
    assert.deepEqual(said, []);
  },
);

void test('components of frameworks without a plugin are shown anew in their boxes', options, async (t) => {
  const dev = await serve(t, { refresh: false });
  const { page } = await view(t);
  await page.goto(dev.url);
  await settled(page);
  await page.evaluate('globalThis.isSame = true');
  dev.change('plain/Note.js', '<p class="note">', '<p class="note">changed ');
  await page.getByText('changed note').click();
  await page.getByText('NOTE').waitFor();
  dev.change('Counter.jsx', "label = 'add'", "label = 'plus'");
  await page.getByText('plus: 1').click();
  await page.getByText('plus: 2').waitFor();
  assert.equal(await page.evaluate('globalThis.isSame'), true);
});

void test('the server renders a changed component, and keeps what it has in memory', async (t) => {
  const dev = await serve(t, { refresh: false });
  assert.match(await pageOf(dev), /visits 1,/);
  dev.change('Counter.jsx', "label = 'add'", "label = 'plus'");
  const page = await eventually(async () => {
    const html = await pageOf(dev);
    return html.includes('plus') && html;
  });
  assert.ok(Number(/visits (\d+)/.exec(page)?.[1]) > 1, page);
});

void test('a component that is new is there at the next request', async (t) => {
  const dev = await serve(t, { refresh: false });
  const count = async (): Promise<number> => Number(/(\d+) components/.exec(await pageOf(dev))?.[1]);
  const before = await count();
  dev.write('New.jsx', 'export default () => <p>new</p>;');
  await eventually(async () => (await count()) === before + 1);
});

void test('an error of a component is answered with its place, and the next request is served', async (t) => {
  const dev = await serve(t, { refresh: false });
  dev.change('Counter.jsx', 'useState(start)', 'missing(start)');
  const answer = await eventually(async () => {
    const response = await fetch(dev.url);
    return response.status === 500 && response.text();
  });
  assert.match(answer, /missing is not defined[^]*Counter\.jsx:\d+/);
  dev.change('Counter.jsx', 'missing(start)', 'useState(start)');
  await eventually(async () => (await fetch(dev.url)).status === 200);
});

void test(
  'a syntax error of a component is an overlay with its place, and the page comes back when it is mended',
  options,
  async (t) => {
    const dev = await serve(t, { refresh: true });
    dev.change('Counter.jsx', 'useState(start)', 'useState((start)');
    const { page } = await view(t);
    await page.goto(dev.url);
    const overlay = page.locator('vite-error-overlay');
    await overlay
      .getByText(/Counter\.jsx/)
      .first()
      .waitFor();
    dev.change('Counter.jsx', 'useState((start)', 'useState(start)');
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    assert.equal(await overlay.count(), 0);
    // Again, in a page that is there.
    dev.change('Counter.jsx', 'useState(start)', 'useState((start)');
    await overlay
      .getByText(/Counter\.jsx/)
      .first()
      .waitFor();
    dev.change('Counter.jsx', 'useState((start)', 'useState(start)');
    await overlay.waitFor({ state: 'detached' });
    await page.getByText('add: 2').waitFor();
  },
);

void test('a mistake in a style is an overlay, and the page has its runtime', options, async (t) => {
  const dev = await serve(t, { refresh: true });
  dev.write('broken.module.css', '.a { composes: b from "./missing.css"; }');
  const { page } = await view(t);
  await page.goto(dev.url);
  await page.locator('vite-error-overlay').waitFor();
  await settled(page);
  assert.match(await pageOf(dev), /visits/);
});

void test('an answer to a failed request is HTML for browsers alone, with nothing of the error that is markup', async (t) => {
  const dev = await serve(t, { refresh: false });
  dev.change('Counter.jsx', 'useState(start)', `(() => { throw new Error('</script><img src=x>') })()`);
  const ask = (accept: string): Promise<Response> => fetch(dev.url, { headers: { accept } });
  await eventually(async () => (await ask('*/*')).status === 500);
  const plain = await ask('application/json');
  assert.match(plain.headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(await plain.text(), /^Error: <\/script><img src=x>\n.*Counter\.jsx:\d+/s);
  const html = await ask('text/html,*/*;q=0.8');
  assert.deepEqual([html.status, html.headers.get('content-type')], [500, 'text/html; charset=utf-8']);
  const text = await html.text();
  assert.match(text, /ErrorOverlay/);
  assert.ok(!text.includes('<img'), text);
});

void test('errors that cannot be read are answered as well', async (t) => {
  const dev = await serve(t, { refresh: false });
  const hostile = `(() => { throw new Proxy({}, { getPrototypeOf() { throw new Error('read') } }) })()`;
  dev.change('Counter.jsx', 'useState(start)', hostile);
  const answer = await eventually(async () => {
    const response = await fetch(dev.url);
    return response.status === 500 && response.text();
  });
  assert.match(answer, /cannot be read/);
});
