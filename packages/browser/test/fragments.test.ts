// Fragments in the page of a host that is not JavaScript: the runtime of pages hydrates them, in each framework.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import { createFragments, createRegistry, createServer, plain } from '../../render/src/index.ts';
import { preact } from '../../render/src/adapters/preact.ts';
import { react } from '../../render/src/adapters/react.ts';
import { vue } from '../../render/src/adapters/vue.ts';
import { type Built, build } from './support/build.ts';
import { noBrowser, settled, view } from './support/browser.ts';

const options = { skip: noBrowser };
let built: Built;
before(async () => {
  built = await build();
});
after(() => fs.rmSync(built.folder, { recursive: true }));

async function listen(t: TestContext, server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The service of fragments. */
function service(t: TestContext): Promise<string> {
  const registry = createRegistry({ adapters: [react(), preact(), vue(), plain] });
  built.register(registry);
  registry.register('Cached', ({ start }: { start: number }) => `<i>kept ${start}</i>`, {
    adapter: 'plain',
    rendering: 'static',
    cacheKey: () => 'one',
  });
  return listen(t, createServer(createFragments({ registry, assets: built.manifest }).handle));
}

type Jobs = Readonly<Record<string, { name: string; data?: object }>>;

/** A host's page: the head once, and fragments where they belong. */
async function host(t: TestContext, jobs: Jobs): Promise<string> {
  const fragments = await service(t);
  const head = await (await fetch(`${fragments}/batch/head`)).text();
  const body = JSON.stringify(jobs);
  const batch = async (): Promise<string> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const { results } = (await (await fetch(`${fragments}/batch`, init)).json()) as {
      results: Record<string, { html: string }>;
    };
    return Object.values(results)
      .map(({ html }) => `<main>${html}</main>`)
      .join('');
  };
  return listen(
    t,
    http.createServer((request, response) => {
      const file = path.join(built.folder, 'client', request.url ?? '');
      if (request.url?.startsWith('/assets/') === true && fs.existsSync(file)) {
        response.setHeader('content-type', file.endsWith('.css') ? 'text/css' : 'text/javascript');
        response.end(fs.readFileSync(file));
        return;
      }
      if (request.url !== '/') {
        response.writeHead(204).end();
        return;
      }
      batch().then(
        (html) => {
          response.setHeader('content-type', 'text/html; charset=utf-8');
          response.end(
            `<!doctype html><html><head><title>host</title>${head}</head><body>${html}</body></html>`,
          );
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    }),
  );
}

void test(
  'fragments of each framework are hydrated, with their styles and ids of their own',
  options,
  async (t) => {
    const url = await host(t, {
      a: { name: 'Counter', data: { start: 1 } },
      b: { name: 'Counter', data: { start: 5 } },
      c: { name: 'preact/Stepper', data: { start: 2 } },
      d: { name: 'Ids' },
      e: { name: 'Ids' },
      f: { name: 'Cached', data: { start: 3 } },
    });
    const { page, said } = await view(t);
    await page.goto(url);
    await settled(page);
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    await page.getByText('add: 5').click();
    await page.getByText('add: 6').waitFor();
    assert.equal(await page.locator('sluice-box[ready=""]').count(), 5);
    const ids = await page
      .locator('sluice-box')
      .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('i')));
    assert.equal(new Set(ids).size, 5);
    const own = await page
      .locator('sluice-box[n=Ids] [id]')
      .evaluateAll((elements) => elements.map(({ id }) => id));
    assert.ok(own.length >= 2 && new Set(own).size === own.length, own.join(' '));
    const colour = await page.getByText('add: 2').evaluate((element) => getComputedStyle(element).color);
    assert.equal(colour, 'rgb(1, 2, 3)');
    assert.match(await page.locator('main').last().innerHTML(), /^<i>kept 3<\/i>$/);
    assert.deepEqual(said, []);
  },
);
