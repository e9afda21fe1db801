/**
 * Apps of kinds that are no framework's matter: how each is started, and what is asked of it. `ask` gets the app alone and
 * under Sluice, asserts what has to be so, and returns what has to be the same both times.
 *
 * Nothing in the apps knows of Sluice; they are as their libraries' documentation has them.
 */

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, upgradeAndWait, type Answer, type Ask } from './client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, type Launchable, type Running } from './launch.ts';

export interface App extends Launchable {
  readonly tier: 'quick' | 'long';
  /** Folder below `frameworks/` that has `package.json` and the lock file. */
  readonly install: string;
  /** Folder below `frameworks/` the app is started in. */
  readonly folder: string;
  readonly build?: { readonly script: string; readonly leaves: string };
  /** Environment that is made anew for each start: ports, files. */
  readonly fresh?: () => Promise<Record<string, string>>;
  readonly ask: (asking: Asking) => Promise<unknown>;
  /** A request that is cheap and has to be answered with 200 all through a reload; `/` unless said. */
  readonly steady?: Omit<Ask, 'port'>;
}

export interface Asking {
  readonly app: Running;
  readonly env: Readonly<Record<string, string>>;
  readonly send: (path: string, more?: Partial<Ask>) => Promise<Answer>;
}

const shared = (name: string, entry = 'server.mjs') =>
  ({
    name,
    tier: 'quick',
    install: 'apps',
    folder: `apps/${name}`,
    start: { entry },
    hostUnset: true,
  }) as const;

const tempFile = (name: string) => join(mkdtempSync(join(tmpdir(), 'slc-app-')), name);
const json = { 'content-type': 'application/json' };

const accepted = { accept: 'application/json' };

/** A GraphQL operation; its status and what it said. */
async function graphql(send: Asking['send'], path: string, query: string, variables: unknown = {}) {
  const body = JSON.stringify({ query, variables });
  const answer = await send(path, { method: 'POST', headers: json, body });
  return [answer.status, JSON.parse(answer.body) as unknown] as const;
}

const apollo: App['ask'] = async ({ send }) => {
  const books = await graphql(send, '/', '{ books { title author } }');
  assert.deepEqual(books, [200, { data: { books: [{ title: 'The Awakening', author: 'Kate Chopin' }] } }]);
  const added = await graphql(
    send,
    '/',
    'mutation ($title: String!) { addBook(title: $title, author: "Grüße") { title author } }',
    { title: `  ${'long '.repeat(5_000)}end` },
  );
  assert.equal(added[0], 200);
  const wrong = await graphql(send, '/', '{ films }');
  assert.equal(wrong[0], 400);
  // Without a content type that a form cannot have, Apollo takes it for a forged request.
  const forged = await send('/?query={books{title}}', { headers: accepted });
  assert.equal(forged.status, 400);
  const fetched = await send('/?query={books{title}}', { headers: { ...json, ...accepted } });
  assert.equal(fetched.status, 200);
  const slow = await Promise.all([100, 120, 140, 160].map((ms) => graphql(send, '/', `{ slow(ms: ${ms}) }`)));
  return { books, added, wrong: wrong[0], forged: forged.body, fetched: fetched.body, slow };
};

const yoga: App['ask'] = async ({ send }) => {
  const hello = await graphql(send, '/graphql', '{ hello(name: "you") }');
  assert.deepEqual(hello, [200, { data: { hello: 'Hello, you' } }]);
  const query = encodeURIComponent('subscription { countdown(from: 2) }');
  const asked = { headers: { accept: 'text/event-stream' } };
  // More streams than there are workers, and queries beside them.
  const streams = [1, 2, 3].map(() => send(`/graphql?query=${query}`, asked));
  const beside = await graphql(send, '/graphql', '{ hello(name: "beside") }');
  assert.equal(beside[0], 200);
  const events = await Promise.all(
    streams.map(async (stream) => {
      const { status, body, pieces } = await stream;
      const at_ms = (text: string) => pieces.find((piece) => piece.text.includes(text))?.at_ms ?? Number.NaN;
      const gap_ms = at_ms('"countdown":0') - at_ms('"countdown":2');
      assert.ok(gap_ms > 300, `the first and the last event came ${gap_ms} ms apart`);
      return [status, [...body.matchAll(/"countdown":\d/g)].map(String)];
    }),
  );
  const refused = await send('/graphql?query={hello}');
  return { hello, beside, events, refused: refused.status };
};

const closeWithGrace: App['ask'] = async ({ send }) => {
  const page = await send('/');
  const slow = await send('/slow?ms=300');
  return [page.status, page.body, slow.status, slow.body];
};

/** What the health server knows must not be served by the app's port, and the other way round. */
const twoServers =
  (health: { portIn: string; path: string; alsoApps: string }): App['ask'] =>
  async ({ send, env }) => {
    const own = await Promise.all(['/', health.alsoApps, '/'].map((path) => send(path)));
    for (const { status, body } of own)
      assert.deepEqual([status, body.startsWith('the app')], [200, true], body);
    const port = Number(env[health.portIn]);
    const healthy = await ask({ port, path: health.path });
    assert.equal(healthy.status, 200, healthy.body);
    const foreign = await ask({ port, path: '/any' });
    assert.equal(foreign.status, 404);
    return [own.map(({ body }) => body), healthy.status];
  };

const migrations: App['ask'] = async ({ send }) => {
  const posted = await send('/a-visit', { method: 'POST' });
  assert.equal(posted.status, 201);
  const { body } = await send('/');
  const seen = JSON.parse(body) as { migrations: string[]; visits: string[] };
  assert.deepEqual(seen.visits, ['made by a migration', '/a-visit'], 'a migration ran twice, or not at all');
  return seen;
};

const longPolling: App['ask'] = async ({ send }) => {
  const polls = [1, 2, 3, 4, 5, 6].map(() => send('/poll?after=0'));
  const begun_ms = performance.now();
  const page = await send('/');
  assert.equal(page.body, 'a page');
  const said = await send('/say', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'hello',
  });
  assert.equal(said.status, 204);
  const heard = await Promise.all(polls);
  const took_ms = performance.now() - begun_ms;
  assert.ok(took_ms < poll_ms, `those who poll made the page and the message wait: ${took_ms} ms`);
  return heard.map(({ status, body }) => [status, body]);
};
/** As long as the app lets a poll wait. */
const poll_ms = 8_000;

/** Stock Next.js leaves upgrades open that it does not know, without an answer. */
const nextSockets: App['ask'] = async ({ app, send }) => {
  const unknown = ['/socket', '/api/ws', '/_next/other', '/unknown', '/ws', '/deep/er'];
  const open = await Promise.all(unknown.map((path) => upgradeAndWait(app.port, path)));
  const begun_ms = performance.now();
  const pages = await Promise.all(Array.from({ length: 6 }, () => send('/')));
  const took_ms = performance.now() - begun_ms;
  assert.ok(took_ms < 5_000, `pages beside unanswered handshakes took ${took_ms} ms`);
  assert.deepEqual(
    pages.map(({ status }) => status),
    pages.map(() => 200),
  );
  for (const socket of open.slice(0, 3)) socket.reset();
  for (const socket of open.slice(3)) socket.close();
  assert.equal((await send('/')).status, 200);
  return open.map(({ received }) => received);
};

/** A content API: lists, creates, refuses. What is made anew for each start is left out. */
const strapi: App['ask'] = async ({ send }) => {
  const create = (data: unknown) =>
    send('/api/articles', { method: 'POST', headers: json, body: JSON.stringify({ data }) });
  const created = await Promise.all(['second', 'third', 'Grüße'].map((title) => create({ title })));
  assert.deepEqual(
    created.map(({ status }) => status),
    [201, 201, 201],
  );
  const invalid = await create({ text: 'without a title' });
  const { data, meta } = JSON.parse((await send('/api/articles?sort=title')).body) as {
    data: { title: string }[];
    meta: unknown;
  };
  const missing = await send('/api/articles/none');
  const page = await send('/');
  return {
    titles: data.map(({ title }) => title),
    meta,
    invalid: [invalid.status, invalid.body],
    missing: [missing.status, missing.body],
    page: [page.status, page.headers.location],
  };
};

const directus: App['ask'] = async ({ send, env }) => {
  const post = (path: string, body: unknown, headers = {}) =>
    send(path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
  const login = await post('/auth/login', { email: env['ADMIN_EMAIL'], password: env['ADMIN_PASSWORD'] });
  assert.equal(login.status, 200, login.body);
  const { data } = JSON.parse(login.body) as { data: { access_token: string } };
  const headers = { authorization: `Bearer ${data.access_token}` };
  const notes = {
    collection: 'notes',
    schema: {},
    meta: {},
    fields: [
      { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
      { field: 'text', type: 'string', schema: {} },
    ],
  };
  const made = await post('/collections', notes, headers);
  assert.equal(made.status, 200, made.body);
  // Each process of Directus keeps the schema for itself; those that do not know the collection yet say 403.
  const known = () => eventually(async () => (await send('/items/notes', { headers })).status === 200);
  await known();
  const listed = await send('/fields/notes', { headers });
  const foreign = await send('/items/notes');
  const ping = await send('/server/ping');
  return {
    fields: [
      listed.status,
      (JSON.parse(listed.body) as { data: { field: string }[] }).data.map(({ field }) => field),
    ],
    foreign: foreign.status,
    ping: ping.body,
  };
};

export const apps: readonly App[] = [
  { ...shared('apollo4'), ask: apollo, steady: { path: '/?query={__typename}', headers: json } },
  { ...shared('apollo5'), ask: apollo, steady: { path: '/?query={__typename}', headers: json } },
  { ...shared('yoga'), ask: yoga, steady: { path: '/graphql?query={__typename}', headers: json } },
  { ...shared('close-with-grace'), ask: closeWithGrace },
  {
    ...shared('lightship'),
    fresh: async () => ({ LIGHTSHIP_PORT: String(await freePort()) }),
    ask: twoServers({ portIn: 'LIGHTSHIP_PORT', path: '/live', alsoApps: '/health' }),
  },
  {
    ...shared('terminus', 'server.js'),
    fresh: async () => ({ HEALTH_PORT: String(await freePort()) }),
    ask: twoServers({ portIn: 'HEALTH_PORT', path: '/healthz', alsoApps: '/healthz' }),
  },
  {
    ...shared('migrations'),
    fresh: async () => ({ DATABASE_FILE: tempFile('app.db') }),
    ask: migrations,
  },
  {
    ...shared('long-polling', 'server.js'),
    // Polls wait and compute nothing; one at a time, two of them would keep both workers.
    env: { SLUICE_WORKERS_CONCURRENCY: 'while-waiting' },
    fresh: async () => ({ CHAT_FILE: tempFile('chat.txt'), POLL_MS: String(poll_ms) }),
    ask: longPolling,
  },
  {
    name: 'next-standalone-sockets',
    tier: 'long',
    install: 'next',
    folder: 'next',
    build: { script: 'build:standalone', leaves: '.next-standalone/standalone/server.js' },
    start: { entry: '.next-standalone/standalone/server.js' },
    ask: nextSockets,
  },
  {
    name: 'next-npm-start-sockets',
    tier: 'long',
    install: 'next',
    folder: 'next',
    build: { script: 'build', leaves: '.next/BUILD_ID' },
    start: { command: ['npm', 'start'] },
    ask: nextSockets,
  },
  {
    name: 'strapi',
    tier: 'long',
    install: 'strapi',
    folder: 'strapi',
    start: { command: ['npm', 'start'] },
    fresh: async () => ({ DATABASE_FILENAME: tempFile('data.db') }),
    ask: strapi,
    steady: { path: '/api/articles' },
  },
  {
    name: 'directus',
    tier: 'long',
    install: 'directus',
    folder: 'directus',
    start: { command: ['npm', 'start'] },
    env: {
      DB_CLIENT: 'sqlite3',
      SECRET: 'secret-of-a-test',
      TELEMETRY: 'false',
      // It answers 503 by itself where its event loop is late, as on a machine that is busy with other tests.
      PRESSURE_LIMITER_ENABLED: 'false',
    },
    fresh: async () => ({
      DB_FILENAME: tempFile('data.db'),
      ADMIN_EMAIL: 'admin@example.com',
      ADMIN_PASSWORD: 'password-of-a-test',
    }),
    ask: directus,
    steady: { path: '/server/ping' },
  },
];
