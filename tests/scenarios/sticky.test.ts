// Clients whose session is in one worker: each request goes there, long polls stand in nobody's way, and the end of the worker
// ends the session and nothing else. Real apps are in tests/conformance/sessions.test.ts.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ownApp, running, STRICT } from './scenario.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice, StartOptions } from '../support/sluice.ts';

const deadlineMs = 20_000;

async function start(context: TestContext, options: StartOptions = {}): Promise<Sluice> {
  const sluice = await running(context, {
    entry: ownApp('polls.js'),
    flags: ['--log-format', 'json', ...STRICT],
    ...options,
  });
  await eventually(async () => (await sluice.status()).workers.every(({ state }) => state === 'ready'), {
    deadlineMs,
    what: 'workers that are all ready',
  });
  return sluice;
}

async function ask(sluice: Sluice, target: string, init: RequestInit = {}): Promise<Response> {
  return fetch(sluice.url + target, { signal: AbortSignal.timeout(deadlineMs), ...init });
}

const at = (sid: string): string => `/poll/?EIO=4&transport=polling&sid=${sid}`;

async function open(sluice: Sluice): Promise<string> {
  const text = await (await ask(sluice, '/poll/?EIO=4&transport=polling')).text();
  return (JSON.parse(text.slice(1)) as { sid: string }).sid;
}

interface Told {
  pid: number;
  polls: number;
  inPageMax: number;
  closed: number;
}

const told = async (sluice: Sluice): Promise<Told> => (await (await ask(sluice, '/told')).json()) as Told;

const untilPolls = (sluice: Sluice, polls: number): Promise<unknown> =>
  eventually(async () => (await told(sluice)).polls === polls, { deadlineMs, what: `${polls} open polls` });

test('polls of known sessions hold no slot, and reach the worker that gave them out', async (t) => {
  const sluice = await start(t);
  const sids = await Promise.all(Array.from({ length: 20 }, () => open(sluice)));
  const polls = sids.map(async (sid) => (await ask(sluice, at(sid))).text());
  await eventually(async () => (await sluice.status()).streams === 20, {
    deadlineMs,
    what: '20 polls beside the slots',
  });
  assert.match(await (await ask(sluice, '/page')).text(), /^page of/);
  for (const sid of sids) assert.equal((await ask(sluice, at(sid), { method: 'POST' })).status, 200, sid);
  const pids = (await Promise.all(polls)).map((text) => text.slice(1));
  assert.deepEqual(
    pids,
    sids.map((sid) => sid.split('-')[1]),
  );
  await eventually(async () => (await sluice.status()).streams === 0, {
    deadlineMs,
    what: 'the end of all polls',
  });
  assert.equal((await sluice.status()).overlaps_total, 0);
});

test('I1: a page that is requested like a poll occupies its slot', async (t) => {
  const sluice = await start(t, { workers: 1 });
  const sid = await open(sluice);
  const pages = Array.from({ length: 5 }, () => ask(sluice, `/page?EIO=4&transport=polling&sid=${sid}`));
  for (const page of await Promise.all(pages)) assert.equal(page.status, 200);
  assert.equal((await told(sluice)).inPageMax, 1);
});

test('a client that leaves its poll is shown to the app', async (t) => {
  const sluice = await start(t, { workers: 1 });
  const leaving = new AbortController();
  const sid = await open(sluice);
  const poll = ask(sluice, at(sid), { signal: leaving.signal });
  await untilPolls(sluice, 1);
  leaving.abort();
  await assert.rejects(poll);
  await eventually(async () => (await told(sluice)).closed === 1, {
    deadlineMs,
    what: 'the close in the app',
  });
  await eventually(async () => (await sluice.status()).streams === 0, {
    deadlineMs,
    what: 'the end of the stream',
  });
});

test('I3: polls of a worker that dies are answered, and their clients find a new session', async (t) => {
  const sluice = await start(t, { workers: 1 });
  const sids = await Promise.all(Array.from({ length: 5 }, () => open(sluice)));
  const polls = sids.map((sid) => ask(sluice, at(sid)));
  await untilPolls(sluice, 5);
  void ask(sluice, '/exit', { method: 'POST' }).catch(() => undefined);
  for (const poll of await Promise.all(polls)) assert.equal(poll.status, 502);
  const lost = await ask(sluice, at(sids[0] ?? ''));
  assert.equal(lost.status, 400, 'the app says that it knows no such session');
  assert.ok(await open(sluice));
  await eventually(() => sluice.logs.some(({ session }) => session === 'moved'), {
    deadlineMs,
    what: 'a log line',
  });
});

test('a cookie leads back to its worker, and is Secure for HTTPS', async (t) => {
  const sluice = await start(t, {
    config:
      '[server]\ntrusted_peers = ["127.0.0.1"]\n[sticky]\nby = "cookie"\ncookie = "home"\nroutes = ["/told"]\n',
  });
  const first = await ask(sluice, '/told');
  const [cookie = ''] = first.headers.getSetCookie();
  assert.match(cookie, /^home=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax$/);
  const { pid } = (await first.json()) as Told;
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  const busy = Array.from({ length: 4 }, () => ask(sluice, '/page'));
  for (let turn = 0; turn < 10; turn += 1) {
    const again = await ask(sluice, '/told', { headers });
    assert.deepEqual(again.headers.getSetCookie(), []);
    assert.equal(((await again.json()) as Told).pid, pid);
  }
  await Promise.all(busy);
  const page = await ask(sluice, '/page');
  assert.deepEqual(page.headers.getSetCookie(), [], 'it is no route of theirs');
  const https = await ask(sluice, '/told', { headers: { 'x-forwarded-proto': 'https' } });
  assert.match(https.headers.getSetCookie()[0] ?? '', /; Secure$/);
  const made = await ask(sluice, '/told', { headers: { cookie: 'home=00000000000000000000000000000000' } });
  assert.equal(made.headers.getSetCookie().length, 1, 'nobody has that name, so the client gets another');
});

test('sessions that wait for a busy worker keep nobody from the others', async (t) => {
  const sluice = await start(t, { flags: ['--sticky', 'cookie', '--log-format', 'json', ...STRICT] });
  const first = await ask(sluice, '/page');
  const headers = { cookie: first.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  const home = (await first.text()).split(' ').at(-1);
  const bound = Array.from({ length: 10 }, () => ask(sluice, '/page', { headers }));
  const before = performance.now();
  const other = await ask(sluice, '/page');
  const otherMs = performance.now() - before;
  for (const page of await Promise.all(bound)) assert.equal((await page.text()).split(' ').at(-1), home);
  const boundMs = performance.now() - before;
  assert.ok(otherMs < boundMs / 2, `${otherMs} ms beside ten of 200 ms each, ${boundMs} ms`);
  assert.notEqual((await other.text()).split(' ').at(-1), home);
});

test('a reload moves sessions to the new version, and answers every request', async (t) => {
  const sluice = await start(t, { flags: ['--sticky', 'cookie', '--log-format', 'json'] });
  let headers = {};
  const pids = new Set<number>();
  const me = async (): Promise<number> => {
    const response = await ask(sluice, '/told', { headers });
    assert.equal(response.status, 200);
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) headers = { cookie: cookie.split(';')[0] ?? '' };
    const { pid } = (await response.json()) as Told;
    pids.add(pid);
    return pid;
  };
  await me();
  let isOver = false;
  const reload = sluice.cli(['reload']).finally(() => {
    isOver = true;
  });
  while (!isOver) await me();
  assert.equal((await reload).code, 0);
  const last = await me();
  for (let turn = 0; turn < 5; turn += 1) assert.equal(await me(), last);
  assert.ok(pids.size <= 3, `the client was sent from ${[...pids].join(' to ')}`);
});
