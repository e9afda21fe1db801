// Two gateways that share their pages in a server of Redis: what one has the other finds, what one purges is gone at both, and whatever
// becomes of the server, every request is answered.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Fault, Proxy, Redis, missing } from '../support/redis.ts';
import { runSluice, type Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';
import { reload } from './versions.ts';

const skip = missing;
/** A page that is for all. */
const page = '/a?cc=public,s-maxage=60&h=cache-tag:one';

interface Got {
  status: number;
  body: string;
  did: string;
  age: number;
}

/** As clients ask that come to both gateways by one name. */
function get(
  { url }: Sluice,
  target: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: http.OutgoingHttpHeaders } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { method, agent: false, headers: { host: 'shop.test', ...headers } };
    const request = http.request(`${url}${target}`, options, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (body += piece));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          body,
          did: String(answer.headers['cache-status']),
          age: Number(answer.headers.age),
        }),
      );
    });
    request.on('error', reject);
    request.end();
  });
}

interface Shared {
  address: string;
  up: boolean;
  hits: number;
  timeouts: number;
  errors: number;
  skipped: number;
  written: number;
  refused: number;
  purges_heard: number;
}

async function shared(sluice: Sluice): Promise<Shared> {
  const { stdout } = await sluice.cli(['cache', '--json']);
  return (JSON.parse(stdout) as { shared: Shared }).shared;
}

const isUp = (sluice: Sluice): Promise<true> =>
  eventually(async () => (await shared(sluice)).up, { deadlineMs: 15_000, what: 'a shared cache in use' });
const isDown = (sluice: Sluice): Promise<true> =>
  eventually(async () => !(await shared(sluice)).up, {
    deadlineMs: 15_000,
    what: 'a shared cache out of use',
  });
const written = (sluice: Sluice, count: number): Promise<true> =>
  eventually(async () => (await shared(sluice)).written >= count, { what: 'a page in the shared cache' });

// A page that the machine is too busy to fetch in 5 ms is rendered, which is right, and not what is looked at here.
const config = (url: string, timeoutMs = 1_000): string =>
  `[cache]\nenabled = true\nshared_url = "${url}"\nshared_timeout_ms = ${timeoutMs}\n`;

async function gateway(t: TestContext, text: string): Promise<Sluice> {
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config: text });
  await isUp(sluice);
  return sluice;
}

async function two(t: TestContext, redis: Redis): Promise<[Sluice, Sluice]> {
  return Promise.all([gateway(t, config(redis.url)), gateway(t, config(redis.url))]);
}

/** Asks for pages that nobody has, one after the other. None may fail. */
async function asksForNew(sluice: Sluice, name: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const { status } = await get(sluice, `/${name}-${at}?cc=s-maxage=60`);
    assert.equal(status, 200);
  }
}

const notes = (sluice: Sluice): string[] =>
  sluice.logs.map((line) => String(line['text'])).filter((text) => text.startsWith('shared cache '));

void test(
  'what one gateway has rendered the other one finds, with its age, its variants and its conditions',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    const [a, b] = await two(t, redis);
    const first = await get(a, page);
    assert.equal(first.did, 'Sluice; fwd=uri-miss; ttl=60; stored');
    await written(a, 1);
    await eventually(async () => (await get(a, page)).age >= 1);
    const found = await get(b, page);
    assert.equal(found.body, first.body);
    assert.match(found.did, /^Sluice; hit; ttl=\d+; detail=shared$/);
    assert.ok(found.age >= 1, 'its true age');
    assert.match((await get(b, page)).did, /^Sluice; hit; ttl=\d+$/, 'now in its own memory');

    const varied = '/a?cc=s-maxage=60&h=vary:x-lang';
    const de = await get(a, varied, { headers: { 'x-lang': 'de' } });
    const fr = await get(a, varied, { headers: { 'x-lang': 'fr' } });
    await written(a, 3);
    assert.equal((await get(b, varied, { headers: { 'x-lang': 'fr' } })).body, fr.body);
    assert.equal((await get(b, varied, { headers: { 'x-lang': 'de' } })).body, de.body);
    const en = await get(b, varied, { headers: { 'x-lang': 'en' } });
    assert.ok(en.body !== de.body && en.body !== fr.body);

    const etag = '/a?cc=s-maxage=60&h=etag:%22x%22';
    await get(a, etag);
    await written(a, 4);
    assert.equal((await get(b, etag, { headers: { 'if-none-match': '"x"' } })).status, 304);
    const shown = (await b.cli(['cache'])).stdout;
    assert.match(shown, /^Shared +unix:\/\/\S+, in use$/m);
    assert.match(shown, /^ {2}Look-ups +4 hits, 1 misses, 0 timed out, 0 failed, 0 skipped$/m);
  },
);

void test(
  'many who ask both gateways for a page at once cost one look-up and one render each at most',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    const [a, b] = await two(t, redis);
    const slow = '/a?cc=s-maxage=60&ms=100';
    await Promise.all(Array.from({ length: 50 }, (_, at) => get(at % 2 === 0 ? a : b, slow)));
    const metrics = await (await fetch(`${a.admin}/metrics`)).text();
    assert.match(metrics, /^sluice_cache_shared_look_ups_total\{look_up="miss"\} 1$/m);
    assert.match(metrics, /^sluice_cache_shared_up 1$/m);
  },
);

void test('a purge at one gateway reaches the other one and what is stored', { skip }, async (t) => {
  const redis = await Redis.start(t);
  const [a, b] = await two(t, redis);
  let pages = 0;
  /** Both have it, and it is stored. */
  const have = async (target: string): Promise<string> => {
    const { body } = await get(a, target);
    pages += 1;
    await written(a, pages);
    assert.equal((await get(b, target)).body, body);
    return body;
  };
  const own = '/own?cc=s-maxage=600';
  const kept = await have(own);
  for (const purge of [
    ['--tag', 'one'],
    ['--url', `http://shop.test${page}`],
    ['--prefix', '/a'],
  ]) {
    const body = await have(page);
    assert.equal((await a.cli(['cache', 'purge', ...purge])).code, 0);
    await eventually(async () => (await get(b, page)).body !== body, {
      what: `${purge.join(' ')} at the other gateway`,
    });
    // What b has rendered since is found by a, and not the old page.
    assert.notEqual((await get(a, page)).body, body);
    await a.cli(['cache', 'purge', '--tag', 'one']);
    await eventually(async () => (await shared(b)).up);
    pages = (await shared(a)).written;
  }
  assert.equal((await get(b, own)).body, kept, 'other pages stay');

  const changed = await have('/changed?cc=s-maxage=60');
  assert.equal((await get(b, '/changed?cc=s-maxage=60', { method: 'POST' })).status, 200);
  await eventually(async () => (await get(a, '/changed?cc=s-maxage=60')).body !== changed, {
    what: 'a POST at b',
  });

  await reload(b);
  await eventually(async () => (await get(a, own)).body !== kept, { what: 'a new version at b' });
});

/** Two whose app fails, and says that a page is private, once the file is there. */
async function fickle(t: TestContext): Promise<{ a: Sluice; b: Sluice; fail: () => void }> {
  const redis = await Redis.start(t);
  const file = path.join(redis.dir, 'failing');
  const begin = async (): Promise<Sluice> => {
    const env = { FAILING_FILE: file };
    const sluice = await running(t, {
      entry: ownApp('pages.js'),
      workers: 1,
      config: config(redis.url),
      env,
    });
    await isUp(sluice);
    return sluice;
  };
  const [a, b] = await Promise.all([begin(), begin()]);
  return { a, b, fail: () => fs.writeFileSync(file, '') };
}

/** Waits until a page that is kept is so old. */
async function passes(sluice: Sluice, seconds: number): Promise<void> {
  const clock = '/clock?cc=public,max-age=600';
  const { age } = await get(sluice, clock);
  await eventually(async () => (await get(sluice, clock)).age >= (Number.isNaN(age) ? 0 : age) + seconds);
}

void test(
  'stale pages of another gateway are sent while a new one is rendered, and where none can be',
  { skip },
  async (t) => {
    const { a, b, fail } = await fickle(t);
    const soon = '/a?cc=s-maxage=1,stale-while-revalidate=600';
    const { body } = await get(a, soon);
    const last = '/failing?cc=public,max-age=1,stale-if-error=600';
    const kept = (await get(a, last)).body;
    await written(a, 2);
    await passes(a, 2);
    const stale = await get(b, soon);
    assert.equal(stale.body, body);
    assert.match(stale.did, /detail=revalidating$/);
    await eventually(async () => (await get(b, soon)).body !== body, { what: 'the render of b' });
    fail();
    const saved = await get(b, last);
    assert.deepEqual([saved.status, saved.body], [200, kept]);
    assert.match(saved.did, /detail=error$/);
  },
);

void test(
  'i7 a page that turns out to be private is dropped by each gateway when it renews its own copy',
  { skip },
  async (t) => {
    const { a, b, fail } = await fickle(t);
    const target = '/fickle?cc=s-maxage=1,stale-while-revalidate=600';
    const { body } = await get(a, target);
    await written(a, 1);
    assert.equal((await get(b, target)).body, body);
    await passes(a, 2);
    fail();
    // The one that is stale is sent, and renewing it shows that there is none for all any more.
    for (const each of [a, b]) {
      assert.equal((await get(each, target)).body, body);
      await eventually(async () => (await get(each, target)).did.includes('fwd='));
      // It is not taken from the shared cache either.
      assert.match((await get(each, target)).did, /fwd=bypass/);
    }
    // One visitor's answer is no purge.
    assert.equal((await shared(b)).purges_heard, 0);
  },
);

void test('i7 what is private is not stored', { skip }, async (t) => {
  const redis = await Redis.start(t);
  const sluice = await gateway(t, config(redis.url));
  for (const target of [
    '/user',
    '/user?cc=private,max-age=60',
    '/user?cc=no-store',
    '/a?cc=public,max-age=60&h=set-cookie:a=b',
  ])
    await get(sluice, target, { headers: { cookie: 'user=canary' } });
  await get(sluice, page);
  await written(sluice, 1);
  assert.match(await redis.ask('DBSIZE'), /^:2\r\n/, 'the page that is for all, and the purges');
});

void test(
  'a server that is killed costs no request, and is used again when it is back',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    const [a, b] = await two(t, redis);
    const { body } = await get(a, page);
    const pages = asksForNew(a, 'while-it-dies', 200);
    await redis.kill();
    await pages;
    await isDown(a);
    assert.equal((await get(a, page)).body, body, 'memory goes on');
    await asksForNew(a, 'dead', 20);
    await redis.begin();
    await Promise.all([isUp(a), isUp(b)]);
    // It has come back empty, and so without its purges: what was in memory counts as stale.
    assert.notEqual((await get(a, page)).body, body);
    await asksForNew(a, 'back', 1);
    await written(a, 2);
    assert.match((await get(b, '/back-0?cc=s-maxage=60')).did, /detail=shared/);
    // Both may begin the list of purges at the same time; the second beginning is one more loss.
    const all = /it is in use[^]*only in this gateway's memory[^]*its purges were lost[^]*it is in use$/;
    await eventually(() => all.test(notes(a).join('\n')));
    assert.ok(notes(a).length <= 10, `one note at each change: ${notes(a).join('\n')}`);
  },
);

void test(
  'a server that is stopped costs five requests its time limit, none an answer, and the others nothing',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    const sluice = await gateway(t, config(redis.url, 20));
    redis.signal('SIGSTOP');
    await asksForNew(sluice, 'stopped', 50);
    const { up, timeouts, skipped, errors } = await shared(sluice);
    assert.deepEqual([up, timeouts, skipped, errors], [false, 5, 45, 0]);
    redis.signal('SIGCONT');
    await isUp(sluice);
  },
);

const faults: Fault[] = ['late', 'garbage', 'half'];
for (const fault of faults)
  void test(`no request fails where answers of the server are ${fault}`, { skip }, async (t) => {
    const redis = await Redis.start(t);
    const proxy = await Proxy.before(t, redis);
    const sluice = await gateway(t, config(proxy.url, 20));
    const { body } = await get(sluice, page);
    proxy.fault = fault;
    await asksForNew(sluice, fault, 50);
    await isDown(sluice);
    assert.equal((await get(sluice, page)).body, body);
    const { timeouts, errors } = await shared(sluice);
    assert.ok(timeouts + errors <= 5, `${timeouts} too late, ${errors} failed`);
    proxy.fault = 'none';
    await isUp(sluice);
    await asksForNew(sluice, `after-${fault}`, 1);
  });

void test(
  'a server without memory refuses pages and costs no request, and purges wait for room',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    const [a, b] = await two(t, redis);
    const { body } = await get(a, page);
    await written(a, 1);
    assert.equal((await get(b, page)).body, body);
    await redis.ask('CONFIG SET maxmemory 1');
    await asksForNew(a, 'full', 10);
    await eventually(async () => (await shared(a)).refused >= 1);
    assert.equal((await shared(a)).up, true, 'it still answers');
    // The line is on its way for 50 ms.
    await eventually(() => notes(a).some((note) => note.includes('it refuses pages: OOM')));
    assert.equal((await a.cli(['cache', 'purge', '--tag', 'one'])).code, 0);
    const next = (await get(a, page)).body;
    assert.notEqual(next, body);
    await redis.ask('CONFIG SET maxmemory 0');
    await eventually(async () => (await get(b, page)).body !== body, {
      what: 'the purge, once there is room',
    });
  },
);

void test('a gateway that was away during a purge does not serve what was purged', { skip }, async (t) => {
  const redis = await Redis.start(t);
  const proxy = await Proxy.before(t, redis);
  const [a, b] = await Promise.all([gateway(t, config(redis.url)), gateway(t, config(proxy.url))]);
  const { body } = await get(a, page);
  const other = (await get(a, '/other?cc=s-maxage=600')).body;
  await written(a, 2);
  assert.equal((await get(b, page)).body, body);
  assert.equal((await get(b, '/other?cc=s-maxage=600')).body, other);
  proxy.shut();
  await isDown(b);
  await a.cli(['cache', 'purge', '--tag', 'one']);
  await eventually(async () => (await redis.ask('XLEN sluice:purges')).startsWith(':2\r\n'));
  proxy.fault = 'none';
  await isUp(b);
  assert.notEqual((await get(b, page)).body, body);
  assert.equal((await get(b, '/other?cc=s-maxage=600')).body, other, 'what was not purged is still there');
});

void test(
  'a server that is not there when the gateway starts is no fault of the gateway',
  { skip },
  async (t) => {
    const redis = await Redis.start(t);
    await redis.kill();
    const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config: config(redis.url) });
    await asksForNew(sluice, 'without', 5);
    assert.equal((await shared(sluice)).up, false);
    await redis.begin();
    await isUp(sluice);
  },
);

void test('passwords come from the URL or a file and are not shown', { skip }, async (t) => {
  const redis = await Redis.start(t, '--requirepass', 's3cret/word');
  const file = path.join(redis.dir, 'password');
  fs.writeFileSync(file, 's3cret/word\n');
  const byFile = `${config(redis.url)}shared_password_file = "${file}"\n`;
  const byUrl = config(redis.url.replace('unix://', 'unix://:s3cret%2Fword@'));
  for (const [at, text] of [byFile, byUrl].entries()) {
    const sluice = await gateway(t, text);
    await get(sluice, `/password-${at}?cc=s-maxage=60`);
    await written(sluice, 1);
    assert.doesNotMatch(sluice.stdout + sluice.stderr + (await sluice.cli(['cache'])).stdout, /s3cret/);
  }
  const wrong = config(redis.url.replace('unix://', 'unix://:wr0ng@'));
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config: wrong });
  await eventually(() => notes(sluice).some((note) => /WRONGPASS/.test(note)));
  assert.doesNotMatch(sluice.stdout + sluice.stderr, /wr0ng/);
  assert.equal((await get(sluice, page)).status, 200);
  const toml = path.join(redis.dir, 'sluice.toml');
  fs.writeFileSync(toml, `[app]\nentry = ${JSON.stringify(ownApp('pages.js'))}\n${wrong}`);
  const { code, stdout, stderr } = await runSluice(['check', '--config', toml]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^shared_url = "unix:\/\/…@\//m);
});

void test('a config that names no server is refused with what to do, and without the password', async (t) => {
  const dir = fs.mkdtempSync('/tmp/slu-shared-');
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const toml = path.join(dir, 'sluice.toml');
  const check = async (text: string): Promise<string> => {
    fs.writeFileSync(toml, `[app]\nentry = ${JSON.stringify(ownApp('pages.js'))}\n${text}`);
    const { code, stderr } = await runSluice(['check', '--config', toml]);
    assert.equal(code, 2, stderr);
    return stderr;
  };
  const bad = await check(config('http://:s3cret@cache'));
  assert.match(bad, /cache\.shared_url must be redis:\/\/host:port/);
  assert.doesNotMatch(bad, /s3cret/);
  assert.match(
    await check('[cache]\nshared_url = "redis://cache"\n'),
    /cache\.shared_url also needs cache\.enabled = true/,
  );
  const file = `${config('redis://cache')}shared_password_file = "none"\n`;
  assert.match(
    await check(file),
    /cache\.shared_password_file names \S+none, which cannot be used: No such file/,
  );
});
