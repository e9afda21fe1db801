// Many users of one router at once, of whom some leave, some write and some meet failures: each gets only what is its own.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { long } from '../../../../tests/support/chance.js';
import { RouteError, Router } from '../../src/router/index.js';
import type { PathSet } from '../../src/types.js';
import { graphHandler } from '../../src/wire/index.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Users at once, all of one router. */
const users = Number(process.env['SLUICE_GRAPH_USERS'] ?? (long ? 100_000 : 10_000));

void test(`${users} users of one router get no byte of each other`, async () => {
  interface User {
    readonly user: string;
  }
  const secrets = (keys: readonly string[], user: string): unknown[] =>
    keys.map((key) => `${key} of <${user}>`);
  let reported = 0;
  const router = new Router<User>(
    [
      {
        route: 'me',
        get: async (_match, { data }) => {
          if (data.user.endsWith('3')) await turn();
          return { path: ['me'], value: { $type: 'ref', value: ['users', data.user] } };
        },
      },
      {
        route: 'users[{keys:names}]["mail","card"]',
        authorize:
          (_match, { data }) =>
          ([, name]) =>
            name === data.user,
        get: async (match, context) => {
          const [name] = match['names'] as string[];
          const fields = match[2] as string[];
          const values = await context.loadMany('secrets', fields);
          return fields.map((field, at) => ({ path: ['users', name ?? '', field], value: values[at] }));
        },
        set: (values) => ({ jsonGraph: values }),
      },
      {
        route: 'users[{keys:names}]["fault","unsaid"]',
        get: async (match, context) => {
          const [name] = match['names'] as string[];
          const [field] = match[2] as string[];
          await context.load('faults', field);
          return { path: ['users', name ?? '', field ?? ''], value: 'no fault' };
        },
      },
      {
        route: 'me.sign',
        call: (_match, [text], { data }) => ({
          path: ['signed', data.user],
          value: `${String(text)} <${data.user}>`,
        }),
      },
    ],
    {
      loaders: {
        secrets: async (keys: readonly string[], { data }) => {
          await turn();
          return secrets(keys, data.user);
        },
        faults: async (keys: readonly string[], { data }) => {
          await turn();
          const faultOf = (key: string): Error =>
            key === 'unsaid'
              ? new Error(`unsaid of <${data.user}>`)
              : new RouteError(`${key} of <${data.user}>`);
          return keys.map(faultOf);
        },
      },
      onError: () => void (reported += 1),
    },
  );
  const graph = graphHandler(router, { data: ({ headers }) => ({ user: headers['cookie'] ?? '' }) });
  const ask = async (user: string, init: RequestInit, query = ''): Promise<string> => {
    const headers = new Headers(init.headers);
    headers.set('cookie', user);
    const response = await graph.fetch(
      new Request(`http://shop.test/model.json${query}`, { ...init, headers }),
    );
    return (await response?.text()) ?? '';
  };
  const queryFor = (paths: readonly PathSet[]): string =>
    `?method=get&paths=${encodeURIComponent(JSON.stringify(paths))}`;
  /** Answer to a user who leaves after some turns of the event loop, as far as it came. */
  const leave = async (user: string, turns: number): Promise<string> => {
    const abort = new AbortController();
    const accept = turns % 2 === 0 ? 'application/json' : 'application/x-ndjson';
    const answer = ask(
      user,
      { headers: { accept }, signal: abort.signal },
      queryFor([['me', ['card', 'mail', 'unsaid']]]),
    ).catch(() => '');
    for (let at = 0; at < turns; at += 1) await turn();
    abort.abort();
    return answer;
  };
  const check = async (at: number): Promise<void> => {
    const user = `u${at}`;
    const other = `u${(at * 7 + 1) % users}x`;
    const paths: PathSet[] = [
      ['me', ['mail', 'card']],
      ['users', [user, other], 'mail'],
    ];
    const faulty = at % 7 === 0;
    if (faulty) paths.push(['me', ['fault', 'unsaid']]);
    const accept = at % 2 === 0 ? 'application/json' : 'application/x-ndjson';
    const values = { jsonGraph: { me: { card: `set <${user}>` } }, paths: [['me', 'card']] };
    const isWriter = at % 10 === 0;
    const writes = [
      { method: 'set', jsonGraph: JSON.stringify(values) },
      { method: 'call', callPath: '["me","sign"]', arguments: '["note"]' },
    ].map((fields) => ({ method: 'POST', headers: FORM, body: new URLSearchParams(fields) }));
    const answers = await Promise.all([
      ask(user, { headers: { accept } }, queryFor(paths)),
      ...(at % 5 === 0 ? [leave(user, at % 4)] : []),
      ...(isWriter ? writes : []).map((write) => ask(user, write)),
    ]);
    const text = answers.join('\n');
    const named = [...text.matchAll(/<([^>]*)>/g)].map(([, name]) => name);
    assert.deepEqual(new Set(named), new Set([user]));
    const failed = faulty ? [`fault of <${user}>`] : [];
    const written = isWriter ? [`set <${user}>`, `note <${user}>`] : [];
    for (const own of [`mail of <${user}>`, `card of <${user}>`, ...written, ...failed])
      assert.ok(text.includes(own), `${own} is not in ${text}`);
    assert.equal((text.match(/SLU-GRAPH-DENIED/g) ?? []).length, 1, text);
    assert.ok(!text.includes('unsaid of'), text);
  };
  const together = 200;
  for (let at = 0; at < users; at += together)
    await Promise.all(Array.from({ length: Math.min(together, users - at) }, (_, one) => check(at + one)));
  assert.ok(reported >= users / 7);
});
