// A page in Chromium: it starts from the server's values, asks for what is missing only, and sets with a way back.
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumPath, noBrowser } from '../../../../tests/browser/chromium.js';
import type { DataSource, Envelope, JsonGraph, PathSet } from '../../src/index.js';
import { pick } from '../../src/page/pick.js';
import { Router } from '../../src/router/index.js';
import { graphHandler } from '../../src/wire/index.js';
import * as server19 from './fixtures/server.js';
import { imported18, modulesOf18 } from './react18.js';

const skip = noBrowser;
let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

const graph: JsonGraph = {
  list: Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [at, { $type: 'ref', value: ['titles', at + 10] }]),
  ) as JsonGraph,
  titles: Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [at + 10, { name: `Title ${at}`, price: at * 10 }]),
  ),
  me: { votes: 3 },
};

interface Shop {
  readonly url: string;
  /** Paths that the browser has asked for, by request. */
  readonly asked: (readonly PathSet[])[];
  readonly source: { delay_ms: number; isDown: boolean; isOut: boolean; votes: number };
}

const lines = ['19', '18.3'] as const;
type Line = (typeof lines)[number];

let server18: Promise<unknown> | undefined;
async function serverOf(line: Line): Promise<typeof server19> {
  if (line === '19') return server19;
  return (await (server18 ??= imported18('fixtures/server.tsx'))) as typeof server19;
}

const aliasOf = (modules: string): Record<string, string> => ({
  react: `${modules}/react`,
  'react-dom': `${modules}/react-dom`,
});

/** Server of the page and its data. `late_ms`: the state comes in two parts, each that long after what is before it. */
async function shop(t: TestContext, line: Line, late_ms = 0): Promise<Shop> {
  const { rendered, version } = await serverOf(line);
  assert.ok(version.startsWith(`${line}.`), version);
  const own = line === '18.3' ? { alias: aliasOf(modulesOf18()) } : {};
  const bundle = await build({
    entryPoints: [path.join(import.meta.dirname, 'fixtures/client.tsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    ...own,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  const script = bundle.outputFiles[0]?.text ?? '';
  assert.ok(script.includes(`"${version}"`), 'the browser has the same React');
  const state = { delay_ms: 0, isDown: false, isOut: false, votes: 3 };
  const asked: (readonly PathSet[])[] = [];
  const answer = async (paths: readonly PathSet[]): Promise<Envelope> => {
    await new Promise((resolve) => setTimeout(resolve, state.delay_ms));
    if (state.isDown) throw new Error('down');
    return { jsonGraph: pick({ ...graph, me: { votes: state.votes } }, paths), paths };
  };
  const source: DataSource = {
    get: (paths) => {
      asked.push(paths);
      return answer(paths);
    },
    set: async ({ jsonGraph, paths = [] }) => {
      // The server has the last word: it takes no more than 5.
      await new Promise((resolve) => setTimeout(resolve, state.delay_ms));
      if (state.isDown) throw new Error('down');
      const { votes } = jsonGraph['me'] as { votes: number };
      state.votes = Math.min(5, votes);
      return answer(paths);
    },
  };
  const wire = graphHandler(new Router([], { unhandled: source }), {
    path: '/model.json',
    onError: () => undefined,
  });
  const serve = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    if (request.url === '/client.js') {
      response.setHeader('content-type', 'text/javascript').end(script);
      return;
    }
    if (request.url !== '/') {
      if (state.isOut) response.writeHead(503).end();
      else if (!(await wire.node(request, response))) response.writeHead(204).end();
      return;
    }
    const { html, script: ofGraph } = await rendered({ get: answer });
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.write(
      `<!DOCTYPE html><html><body><div id="root">${html}</div><script type="module" async src="/client.js"></script>`,
    );
    const half = late_ms > 0 ? ofGraph.length >> 1 : 0;
    for (const part of late_ms > 0 ? ['', ofGraph.slice(0, half)] : []) {
      response.write(part);
      await new Promise((resolve) => setTimeout(resolve, late_ms));
    }
    response.end(`${ofGraph.slice(half)}</body></html>`);
  };
  const server = http.createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked, source: state };
}

async function open(t: TestContext, url: string): Promise<{ page: Page; said: string[] }> {
  browser ??= chromium.launch({ executablePath: chromiumPath() ?? '', args: ['--no-sandbox'] });
  const context = await (await browser).newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const said: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 5')) said.push(message.text());
  });
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(url);
  await hydrated(page);
  return { page, said };
}

/** React keeps what it knows of an element under a key of its own. */
async function hydrated(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    Object.keys(document.querySelector('#votes') ?? {}).some((key) => key.startsWith('__reactProps')),
  );
}

for (const line of lines) {
  void test(
    `React ${line}: a page hydrates without a request, and a later view asks for what is missing only`,
    { skip },
    async (t) => {
      const { url, asked } = await shop(t, line);
      const { page, said } = await open(t, url);
      assert.equal(await page.textContent('#row-2-name'), 'Title 2');
      assert.deepEqual(asked, []);
      await page.click('#more');
      await page.waitForSelector('#row-7-name');
      assert.equal(await page.textContent('#row-7-name'), 'Title 7');
      assert.equal(await page.textContent('#row-0-price'), '0');
      const paths = asked.flat().map((path) => JSON.stringify(path));
      assert.equal(asked.length, 1, paths.join(' '));
      // The reference of row 0 is known: the title behind it is asked for.
      assert.deepEqual(paths.sort(), ['["list",7,"name"]', '["titles",10,"price"]']);
      assert.deepEqual(said, []);
    },
  );

  void test(
    `React ${line}: components that hydrate before the state wait for it, and ask for nothing`,
    { skip },
    async (t) => {
      const { url, asked } = await shop(t, line, 400);
      const { page, said } = await open(t, url);
      assert.equal(await page.textContent('#row-0-name'), 'Title 0');
      assert.deepEqual(asked, []);
      assert.deepEqual(said, []);
    },
  );

  void test(
    `React ${line}: a value that is set shows at once, and then as the server has it`,
    { skip },
    async (t) => {
      const { url, source } = await shop(t, line);
      const { page, said } = await open(t, url);
      source.delay_ms = 300;
      await page.click('#votes');
      assert.match((await page.textContent('#votes')) ?? '', /^4/u);
      await page.waitForFunction(
        () => (globalThis as { model?: { getVersion(): number } }).model !== undefined,
      );
      source.votes = 4;
      source.delay_ms = 0;
      for (let click = 0; click < 4; click += 1) await page.click('#votes');
      await page.waitForFunction(() => document.querySelector('#votes')?.textContent.startsWith('5 '));
      assert.deepEqual(said, []);
    },
  );

  for (const [what, fault] of [
    ['a route', 'isDown'],
    ['a server', 'isOut'],
  ] as const) {
    void test(
      `React ${line}: a value that ${what} does not take returns to what it was`,
      { skip },
      async (t) => {
        const { url, source } = await shop(t, line);
        const { page } = await open(t, url);
        source[fault] = true;
        await page.click('#votes');
        await page.waitForFunction(() =>
          /^3 .*Error/u.test(document.querySelector('#votes')?.textContent ?? ''),
        );
      },
    );
  }

  for (const [what, fault] of [
    ['a route that fails', 'isDown'],
    ['a server that fails', 'isOut'],
  ] as const) {
    void test(
      `React ${line}: ${what}: the boundary waits, shows the error, and asks again when it is to`,
      { skip },
      async (t) => {
        const { url, source, asked } = await shop(t, line);
        const { page } = await open(t, url);
        source[fault] = true;
        source.delay_ms = 200;
        await page.click('#more');
        await page.waitForSelector('#retry');
        assert.match((await page.textContent('#retry')) ?? '', /Error/u);
        assert.ok(asked.length <= 1);
        source[fault] = false;
        const failed = asked.length;
        await page.click('#retry');
        await page.waitForSelector('#wait');
        await page.waitForSelector('#row-7-name');
        assert.equal(asked.length, failed + 1);
      },
    );
  }

  void test(
    `React ${line}: a transition keeps the old view until the values are there`,
    { skip },
    async (t) => {
      const { url, source } = await shop(t, line);
      const { page } = await open(t, url);
      source.delay_ms = 200;
      await page.click('#later');
      assert.equal(await page.locator('#row-2-name').count(), 1);
      await page.waitForSelector('#row-7-name');
    },
  );
}
