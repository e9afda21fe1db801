// The page cache: what is kept, for whom, who waits for whose render, and what a fault does to all of them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { ownApp, running } from './scenario.ts';
import { reload } from './versions.ts';

const on = '[cache]\nenabled = true\n';

interface Files {
  renders: () => string[];
  died: string;
  failing: string;
  env: Record<string, string>;
}

function files(t: TestContext): Files {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-cache-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const [file, died, failing] = ['renders', 'died', 'failing'].map((name) => path.join(dir, name)) as [
    string,
    string,
    string,
  ];
  fs.writeFileSync(file, '');
  const renders = (): string[] => fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return { renders, died, failing, env: { RENDERS_FILE: file, DIED_FILE: died, FAILING_FILE: failing } };
}

async function pages(t: TestContext, { config = on, workers = 2, found = files(t), env = {} } = {}) {
  const sluice = await running(t, {
    entry: ownApp('pages.js'),
    workers,
    config,
    env: { ...found.env, ...env },
  });
  return { sluice, ...found };
}

interface Got {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** The answer ended before its announced end. */
  isCut: boolean;
}

/** Without the conditions and the decoding that fetch adds. */
function get(
  sluice: Sluice,
  target: string,
  { headers = {}, method = 'GET' }: { headers?: http.OutgoingHttpHeaders; method?: string } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${sluice.url}${target}`, { headers, method, agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (body += piece));
      const ended = (isCut: boolean) => (): void =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body, isCut });
      answer.on('end', ended(false));
      answer.on('error', ended(true));
    });
    request.on('error', reject);
    request.end();
  });
}

const did = (got: Got): string => String(got.headers['cache-status']);

void test('a page is rendered once, and sent with its age until it is stale', async (t) => {
  const { sluice, renders } = await pages(t);
  const first = await get(sluice, '/a?cc=public,max-age=2');
  assert.equal(did(first), 'Sluice; fwd=uri-miss; ttl=2; stored');
  const again = await get(sluice, '/a?cc=public,max-age=2');
  assert.equal(again.body, first.body);
  assert.match(did(again), /^Sluice; hit; ttl=[12]$/);
  assert.match(String(again.headers.age), /^[01]$/);
  assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id']);
  const other = await get(sluice, '/a?cc=public,max-age=2&b=1');
  assert.notEqual(other.body, first.body);
  assert.equal((await get(sluice, '/a?utm_source=x&b=1&cc=public,max-age=2')).body, other.body);
  await eventually(async () => (await get(sluice, '/a?cc=public,max-age=2')).body !== first.body);
  assert.ok(renders().length >= 3);
  const line = sluice.logs.find((line) => line['cache'] === 'hit');
  assert.deepEqual([line?.['worker'], line?.['outcome']], [null, 'answered']);
});

void test('HEAD, ranges and conditions are answered from what is kept', async (t) => {
  const { sluice, renders } = await pages(t);
  const target = '/a?cc=public,max-age=60&h=etag:%22x%22';
  const { body } = await get(sluice, target);
  const head = await get(sluice, target, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, String(body.length), '']);
  const part = await get(sluice, target, { headers: { range: 'bytes=1-2' } });
  assert.deepEqual([part.status, part.body], [206, body.slice(1, 3)]);
  assert.equal(part.headers['content-range'], `bytes 1-2/${body.length}`);
  const none = await get(sluice, target, { headers: { range: 'bytes=999-' } });
  assert.deepEqual([none.status, none.headers['content-range']], [416, `bytes */${body.length}`]);
  const known = await get(sluice, target, { headers: { 'if-none-match': '"x"' } });
  assert.deepEqual([known.status, known.body, known.headers.etag], [304, '', '"x"']);
  assert.equal(renders().length, 1);
});

void test('i7 pages that do not say that they are for all are rendered for each client', async (t) => {
  const { sluice } = await pages(t);
  const users = Array.from({ length: 40 }, (_, at) => `user=${at}`);
  for (const query of [
    '',
    '?cc=private,max-age=60',
    '?cc=no-store',
    '?cc=max-age=60',
    '?cc=public,max-age=60&h=set-cookie:a=b',
  ]) {
    const answers = await Promise.all(
      users.map((cookie) => get(sluice, `/user${query}`, { headers: { cookie } })),
    );
    for (const [at, { body }] of answers.entries())
      assert.match(body, new RegExp(`^canary user=${at} `), query);
  }
  const varied = '/user?cc=public,max-age=60&h=vary:cookie';
  for (let round = 0; round < 2; round += 1) {
    const answers = await Promise.all(
      users.slice(0, 8).map((cookie) => get(sluice, varied, { headers: { cookie } })),
    );
    for (const [at, { body }] of answers.entries()) assert.match(body, new RegExp(`^canary user=${at} `));
    if (round === 1) assert.ok(answers.every((got) => did(got).includes('hit')));
  }
  const credentials = { headers: { authorization: 'Basic eA==' } };
  await get(sluice, '/b?cc=max-age=60', credentials);
  assert.ok(!did(await get(sluice, '/b?cc=max-age=60')).includes('hit'));
});

void test('a page that visitors are answered alone of is kept for the others, and rendered no more than it must', async (t) => {
  const { sluice, renders } = await pages(t, { workers: 1 });
  const target = '/visit?cc=public,max-age=60';
  const visit = async (kind: string): Promise<Got> => get(sluice, target, { headers: { 'x-visit': kind } });
  for (const kind of ['new', 'known', 'elsewhere', 'lost']) {
    const got = await visit(kind);
    assert.equal(got.body, 'for nobody alone\n', kind);
    assert.equal((await visit(kind)).body, 'for nobody alone\n', kind);
    const page = await get(sluice, target);
    assert.match(did(page), /^Sluice; fwd=uri-miss; ttl=60/, kind);
    for (let time = 0; time < 20; time += 1) {
      assert.equal((await visit(kind)).body, page.body);
      assert.equal((await get(sluice, target)).body, page.body);
    }
    await sluice.cli(['cache', 'purge', '--all']);
  }
  assert.equal(renders().length, 4 * 3);
});

void test('a thousand who ask at once get one render, as it is written', async (t) => {
  const { sluice, renders } = await pages(t, { workers: 1 });
  const answers = await Promise.all(
    Array.from({ length: 1000 }, () => get(sluice, '/stream?ms=1500&cc=s-maxage=60')),
  );
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  assert.match(answers[0]?.body ?? '', /^first .*\nlast /);
  assert.equal(renders().length, 1);
  assert.equal(answers.filter((got) => did(got).endsWith('collapsed')).length >= 900, true);
});

void test('a render goes on for the others when the client that began it leaves', async (t) => {
  const { sluice, renders } = await pages(t, { workers: 1 });
  const target = '/slow?ms=1200&cc=public,max-age=60';
  const leader = http.get(`${sluice.url}${target}`);
  leader.on('error', () => {});
  await eventually(() => renders().length === 1);
  const others = [get(sluice, target), get(sluice, target)];
  await new Promise((resolve) => setTimeout(resolve, 200));
  leader.destroy();
  const [one, other] = await Promise.all(others);
  assert.equal(one?.body, other?.body);
  assert.equal(renders().length, 1);
  assert.match(did(await get(sluice, target)), /hit/);
});

void test('a worker that dies with a render for many is asked of another, once', async (t) => {
  const { sluice, renders } = await pages(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => get(sluice, '/die?cc=public,max-age=60')),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  assert.ok(renders().length <= 3, String(renders()));
});

void test('a truncated answer is cut off for all who read it, and never kept', async (t) => {
  const { sluice } = await pages(t);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => get(sluice, '/truncated?cc=public,max-age=60')),
  );
  assert.ok(answers.every(({ isCut }) => isCut));
  assert.ok(!did(await get(sluice, '/truncated?cc=public,max-age=60')).includes('hit'));
});

void test('a stale page is sent while one client’s worth of work renews it, and where rendering fails', async (t) => {
  const { sluice, renders, failing } = await pages(t);
  const target = '/failing?cc=public,max-age=1,stale-while-revalidate=1,stale-if-error=60';
  const first = await get(sluice, target);
  await eventually(async () => (await get(sluice, target)).body !== first.body);
  const now = renders().length;
  assert.equal(now, 2);
  fs.writeFileSync(failing, '');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const stale = await get(sluice, target);
  assert.deepEqual([stale.status, did(stale).includes('detail=error')], [200, true]);
  assert.match(stale.body, /^\/failing /);
  fs.rmSync(failing);
  await eventually(async () => did(await get(sluice, target)).includes('hit; ttl=1'));
});

void test('a page that has not changed is fresh again without its body', async (t) => {
  const { sluice, renders } = await pages(t);
  const target = '/validated?cc=public,max-age=1';
  const first = await get(sluice, target);
  const renewed = await eventually(async () => {
    const got = await get(sluice, target);
    return did(got).includes('fwd-status=304') && got;
  });
  assert.deepEqual([renewed.status, renewed.body], [200, first.body]);
  assert.ok(renders().length >= 2);
});

void test('a change by the app’s clients drops the page', async (t) => {
  const { sluice } = await pages(t);
  const target = '/a?cc=public,max-age=60';
  const first = await get(sluice, target);
  assert.equal(did(await get(sluice, target, { method: 'POST' })), 'Sluice; fwd=method');
  const second = await get(sluice, target);
  assert.notEqual(second.body, first.body);
  await get(sluice, '/change?h=location:/a%3Fcc=public,max-age=60', { method: 'DELETE' });
  assert.notEqual((await get(sluice, target)).body, second.body);
});

void test('pages are shown and purged by URL, prefix, tag and all, softly or not', async (t) => {
  const { sluice } = await pages(t);
  const cc = 'cc=public,max-age=60,stale-while-revalidate=60';
  const targets = [`/a?${cc}&h=cache-tag:one,two`, `/blog/b?${cc}&h=surrogate-key:two%20three`, `/c?${cc}`];
  const fill = async (): Promise<void> => {
    for (const target of targets) assert.equal((await get(sluice, target)).headers['cache-tag'], undefined);
  };
  const kept = async (): Promise<boolean[]> => {
    const found = [];
    for (const target of targets) {
      const { code, stdout, stderr } = await sluice.cli([
        'cache',
        'show',
        `${sluice.url}${target}`,
        '--json',
      ]);
      assert.equal(code, 0, stderr);
      found.push((JSON.parse(stdout) as { kept: unknown[] }).kept.length > 0);
    }
    return found;
  };
  const purge = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await sluice.cli(['cache', 'purge', ...args]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  // The key has its parameters sorted: here they are already.
  await fill();
  assert.deepEqual(await kept(), [true, true, true]);
  assert.equal(await purge('--tag', 'two'), 'purged: 2\n');
  assert.deepEqual(await kept(), [false, false, true]);
  await fill();
  assert.equal(await purge('--prefix', `${sluice.url}/blog/`), 'purged: 1\n');
  assert.deepEqual(await kept(), [true, false, true]);
  assert.equal(await purge('--url', `${sluice.url}${targets[0] ?? ''}`), 'purged: 1\n');
  assert.deepEqual(await kept(), [false, false, true]);
  assert.equal(await purge('--all', '--soft'), 'purged: 1\n');
  assert.match(did(await get(sluice, targets[2] ?? '')), /detail=revalidating/);
  assert.equal((await sluice.cli(['cache', 'purge'])).code, 2);
  assert.match((await sluice.cli(['cache'])).stdout, /^Pages /);
  const shown = await sluice.cli(['cache', 'show', `${sluice.url}/none`]);
  assert.match(shown.stdout, /^No page of .*\/none is cached, and no client/);
});

void test('pages are shown and purged over the admin address, for who has the token', async (t) => {
  const { sluice } = await pages(t);
  const cc = 'cc=public,max-age=60';
  const targets = [`/a?${cc}&h=cache-tag:one`, `/b?${cc}&h=cache-tag:two`, `/c?${cc}`];
  for (const target of targets) await get(sluice, target);
  const token = fs.readFileSync(path.join(sluice.runDir, 'admin-token'), 'utf8').trim();
  const purge = async (pages: object, headers: Record<string, string> = {}): Promise<[number, unknown]> => {
    const body = JSON.stringify(pages);
    const answer = await fetch(`${sluice.admin}/cache/purge`, { method: 'POST', headers, body });
    return [answer.status, answer.status === 401 ? await answer.text() : await answer.json()];
  };
  const authorization = `Bearer ${token}`;
  assert.equal((await purge({ all: true }))[0], 401);
  assert.equal(
    (await purge({ all: true }, { authorization, origin: 'https://evil.test' }).catch(() => [403]))[0],
    403,
  );
  const shown = async (target: string): Promise<number> => {
    const answer = await fetch(`${sluice.admin}/cache/show?url=${encodeURIComponent(target)}`);
    return ((await answer.json()) as { kept: unknown[] }).kept.length;
  };
  for (const target of targets) assert.equal(await shown(`${sluice.url}${target}`), 1);
  assert.equal((await purge({ tags: ['one'], url: '/' }, { authorization }))[0], 400);
  assert.deepEqual(await purge({ tags: ['one', 'two', 'three'] }, { authorization }), [200, { purged: 2 }]);
  assert.deepEqual(await purge({ url: targets[2] }, { authorization }), [200, { purged: 1 }], 'on all hosts');
  for (const target of targets) assert.equal(await shown(target), 0);
});

void test('a new version of the app makes kept pages stale', async (t) => {
  const { sluice } = await pages(t, { config: on, env: bounds({ private_s: 0 }) });
  const target = '/a?cc=public,max-age=600';
  const first = await get(sluice, target);
  await reload(sluice);
  const second = await get(sluice, target);
  assert.notEqual(second.body, first.body);
  assert.match(did(second), /fwd=uri-miss/);
});

void test('fields that an app could write into a page for all do not reach it', async (t) => {
  const { sluice } = await pages(t, { config: `${on}ttl = { "/echo" = "60s" }\n` });
  const headers = {
    'x-original-url': '/evil',
    'x-forwarded-host': 'evil.test',
    'if-none-match': '"x"',
    'x-invoke-status': '404',
  };
  const { body } = await get(sluice, '/echo', { headers });
  assert.ok(!/evil|if-none-match|x-invoke/.test(body), body);
  assert.match(did(await get(sluice, '/echo')), /hit/);
});

void test('pages are bounded in memory, and large ones go by', async (t) => {
  const { sluice } = await pages(t, {
    config: `${on}bytes_max = 1000000\n`,
    env: bounds({ page_bytes_max: 100_000 }),
  });
  for (let at = 0; at < 60; at += 1) await get(sluice, `/large?bytes=50000&cc=public,max-age=60&at=${at}`);
  const { stdout } = await sluice.cli(['cache', '--json']);
  const { bytes, pages: count } = JSON.parse(stdout) as { bytes: number; pages: number };
  assert.ok(bytes <= 1_000_000 && count >= 10, stdout);
  const large = '/large?bytes=200000&cc=public,max-age=60';
  for (let at = 0; at < 2; at += 1) assert.equal((await get(sluice, large)).body.length, 200_000);
  assert.ok(!did(await get(sluice, large)).includes('hit'));
});

void test('without cache.enabled nothing is kept or said', async (t) => {
  const { sluice, renders } = await pages(t, { config: '' });
  for (let at = 0; at < 2; at += 1) {
    assert.equal((await get(sluice, '/a?cc=public,max-age=60')).headers['cache-status'], undefined);
  }
  assert.equal(renders().length, 2);
  const { code, stderr } = await sluice.cli(['cache', 'purge', '--all']);
  assert.equal(code, 1);
  assert.match(stderr, /cache\.enabled = true/);
});

void test('`sluice cache show` says why a page is not kept', async (t) => {
  const config = `${on}bypass = ["/never/"]\n`;
  const { sluice } = await pages(t, { config, env: bounds({ page_bytes_max: 2048 }) });
  const shown = async (target: string): Promise<string> =>
    (await sluice.cli(['cache', 'show', `${sluice.url}${target}`])).stdout;
  assert.match(await shown('/unasked'), /^No page of .* is cached, and no client has requested it lately/);
  for (const [target, why] of [
    ['/a?cc=private', 'private'],
    ['/a?cc=public,max-age=60&h=set-cookie:a=b', 'it sets a cookie'],
    ['/a', 'its freshness is not stated'],
    ['/large?bytes=5000&cc=public,max-age=60', 'it is larger than 4 MiB'],
    ['/truncated?cc=public,max-age=60', 'its answer is incomplete: SLU-WORKER-ANSWER-TRUNCATED'],
  ] as const) {
    await get(sluice, target);
    assert.match(
      await shown(target),
      new RegExp(`^Its latest answer \\(200, \\d s ago\\) was not cached: ${why}\\.$`, 'm'),
    );
  }
  assert.equal(await shown('/never/x'), 'It was not cached: its path is in cache.bypass.\n');
  await get(sluice, '/a?cc=public,max-age=60');
  assert.match(await shown('/a?cc=public,max-age=60'), /^200 {2}\d+ bytes, .*fresh for/);
});
