// The guide's app, as it stands there: in development, from its build, and with its links to other clients.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { after, type TestContext, test } from 'node:test';
import { eventually } from '../../../tests/support/eventually.ts';
import { view } from '../../browser/test/support/browser.ts';
import { type GraphSchema, Router, type TypedGraph } from '../src/router/index.js';
import { noBrowser } from '../../../tests/browser/chromium.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

/** Module of a guide's section, written to a file. */
async function moduleOf<T>(heading: string, name: string): Promise<T> {
  const root = project();
  fs.writeFileSync(path.join(root, name), filesIn('graph.md', heading).get(name) ?? '');
  return (await import(pathToFileURL(path.join(root, name)).href)) as T;
}

type Make = (url: string) => Router;

/** Service with two users, and what it was asked for. */
async function service(t: TestContext): Promise<{ url: string; asked: string[] }> {
  const users = [
    { id: 1, name: 'One', email: 'one@example.com' },
    { id: 2, name: 'Two', email: 'two@example.com' },
  ];
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(`${request.url} ${body}`);
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        const ids = new URL(request.url ?? '', 'http://x').searchParams.get('ids')?.split(',').map(Number);
        response.end(JSON.stringify(users.filter(({ id }) => ids?.includes(id))));
        return;
      }
      const { query, variables } = JSON.parse(body) as { query: string; variables: { ids: number[] } };
      assert.match(query, /users\(ids: \$ids\) \{ id (?:name|email)/);
      const found = users.filter(({ id }) => variables.ids.includes(id));
      response.end(
        JSON.stringify(found.length === 0 ? { errors: [{ message: 'none' }] } : { data: { users: found } }),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

void test('types: a router checks what clients set by the schema of the guide', async () => {
  const { shop } = await moduleOf<{ shop: TypedGraph<GraphSchema, unknown> }>('Types', 'shop.ts');
  const set = (match: unknown): void => void match;
  const router = new Router([{ route: 'me.votes', get: () => undefined, set }], {
    schema: shop.schema,
    onError: () => undefined,
  });
  const answer = async (votes: number): Promise<string> =>
    JSON.stringify(await router.set({ jsonGraph: { me: { votes } }, paths: [['me', 'votes']] }));
  assert.doesNotMatch(await answer(5), /"error"/);
  assert.match(await answer(6), /"error"/);
});

void test('from REST: one request for all ids, and a missing user has no value', async (t) => {
  const { restRouter } = await moduleOf<{ restRouter: Make }>('From REST', 'from-rest.js');
  const { url, asked } = await service(t);
  const { jsonGraph } = await restRouter(url).get([['usersById', [1, 2, 3], ['name', 'email']]]);
  const users = jsonGraph['usersById'] as Record<number, Record<string, unknown>>;
  assert.equal(users[2]?.['email'], 'two@example.com');
  assert.deepEqual(users[3]?.['name'], { $type: 'atom' });
  assert.deepEqual(asked, ['/users?ids=1,2,3 ']);
});

void test('from GraphQL: one query for all ids and fields, and its errors are errors of the paths', async (t) => {
  const { graphqlRouter } = await moduleOf<{ graphqlRouter: Make }>('From GraphQL', 'from-graphql.js');
  const { url, asked } = await service(t);
  const router = graphqlRouter(url);
  const { jsonGraph } = await router.get([['usersById', [1, 2], ['name', 'email']]]);
  const users = jsonGraph['usersById'] as Record<number, Record<string, unknown>>;
  assert.equal(users[1]?.['name'], 'One');
  assert.equal(asked.length, 1);
  const failed = await router.get([['usersById', 9, 'name']]);
  assert.match(JSON.stringify(failed.jsonGraph), /"\$type":"error"/);
});

/** Files of a section of a guide, by the names in their first lines. */
function filesIn(guide: string, heading: string): Map<string, string> {
  const text = fs.readFileSync(path.join(REPOSITORY, 'docs/guide', guide), 'utf8');
  const section = new RegExp(`## ${heading}\n([^]*?)(?:\n## |$)`).exec(text)?.[1] ?? '';
  const blocks = section.matchAll(/```(?:jsx?|ts)\n\/\/ (\S+)\n([^]*?)```/g);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}

const roots: string[] = [];
after(() => {
  for (const root of roots) fs.rmSync(root, { recursive: true, force: true });
});

function project(): string {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-graph-')));
  roots.push(root);
  fs.mkdirSync(path.join(root, 'components'));
  const config = filesIn('browser.md', 'One program').get('vite.config.js') ?? '';
  for (const [name, text] of filesIn('graph.md', 'An app').set('vite.config.js', config))
    fs.writeFileSync(path.join(root, name), text);
  fs.writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
  fs.symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
  return root;
}

async function running(t: TestContext, root: string, mode: string): Promise<string> {
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
  return url;
}

for (const mode of ['development', 'production']) {
  void test(
    `the guide's app in ${mode}: no request for what the page has read, and a set that is kept`,
    { skip: noBrowser },
    async (t) => {
      const root = project();
      if (mode === 'production') {
        const vite = path.join(REPOSITORY, 'node_modules/vite/bin/vite.js');
        execFileSync(process.execPath, [vite, 'build', '--logLevel', 'error'], {
          cwd: root,
          env: { ...process.env, NODE_ENV: 'production' },
        });
      }
      const url = await running(t, root, mode);
      const html = await (await fetch(url)).text();
      assert.match(html, /Beta(?:<!-- -->)? costs (?:<!-- -->)?20/);
      const { page, said, asked } = await view(t);
      await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
      await page.goto(url);
      await page.waitForFunction(
        () =>
          document.querySelector('sluice-box[on]:not([ready])') === null &&
          document.querySelector('button') !== null,
      );
      assert.deepEqual(
        asked.filter((one) => one === '/model.json'),
        [],
      );
      await page.getByText('0 votes').click();
      await page.getByText('1 votes').waitFor();
      await eventually(async () => /1(?:<!-- -->)? votes/.test(await (await fetch(url)).text()), {
        deadlineMs: 10_000,
        what: 'the vote on the server',
      });
      const other = await (await fetch(url, { headers: { cookie: 'user=ann' } })).text();
      assert.match(other, /0(?:<!-- -->)? votes/);
      assert.deepEqual(said, []);
    },
  );
}
