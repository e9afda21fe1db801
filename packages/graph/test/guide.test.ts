// The guide's app, as it stands there: in development, from its build, and with its links to other clients.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../tests/support/eventually.ts';
import { view } from '../../browser/test/support/browser.ts';
import { buildProject, filesIn, projectOf, running } from '../../browser/test/support/program.ts';
import { type GraphSchema, Router, type TypedGraph } from '../src/router/index.js';
import { noBrowser } from '../../../tests/browser/chromium.ts';

/** Module of a guide's section, written to a file. */
async function moduleOf<T>(heading: string, name: string): Promise<T> {
  const root = projectOf([[name, filesIn('graph.md', heading).get(name) ?? '']]);
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

/** The guide's app. */
function project(): string {
  return projectOf([
    ...filesIn('graph.md', 'An app'),
    ['vite.config.js', filesIn('browser.md', 'One program').get('vite.config.js') ?? ''],
  ]);
}

for (const mode of ['development', 'production']) {
  void test(
    `the guide's app in ${mode}: no request for what the page has read, and a set that is kept`,
    { skip: noBrowser },
    async (t) => {
      const root = project();
      if (mode === 'production') buildProject(root);
      const { url } = await running(t, root, mode);
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
