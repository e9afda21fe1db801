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
import { type Answer, type Ask } from './client.ts';
import { type Launchable, type Running } from './launch.ts';

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

export const apps: readonly App[] = [
  { ...shared('apollo4'), ask: apollo, steady: { path: '/?query={__typename}', headers: json } },
  { ...shared('apollo5'), ask: apollo, steady: { path: '/?query={__typename}', headers: json } },
  { ...shared('yoga'), ask: yoga, steady: { path: '/graphql?query={__typename}', headers: json } },
  { ...shared('close-with-grace'), ask: closeWithGrace },
  {
    ...shared('migrations'),
    fresh: async () => ({ DATABASE_FILE: tempFile('app.db') }),
    ask: migrations,
  },
  {
    ...shared('long-polling', 'server.js'),
    // Polls wait and compute nothing; one at a time, two of them would keep both workers.
    env: { SLUICE_WORKERS_CONCURRENCY: 'auto' },
    fresh: async () => ({ CHAT_FILE: tempFile('chat.txt'), POLL_MS: String(poll_ms) }),
    ask: longPolling,
  },
];
