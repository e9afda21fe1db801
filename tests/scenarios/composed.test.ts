// Pages with holes: what stands in them is each visitor's own, whatever fails, and whatever the page comes through.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import zlib from 'node:zlib';
import { eventually } from '../support/eventually.ts';
import type { Sluice, StartOptions } from '../support/sluice.ts';
import { STRICT, ownApp, running } from './scenario.ts';
import { answerTo, connected } from './with-http2.ts';
import { missing, startTls } from './with-tls.ts';

const COMPOSE = '[compose]\nenabled = true\n';
const WITH_CACHE = `[cache]\nenabled = true\n${COMPOSE}`;

interface Shop {
  options: StartOptions;
  /** What the app was asked for. */
  asked: () => string[];
}

function shop(t: TestContext, options: Partial<StartOptions> = {}): Shop {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-composed-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'renders');
  fs.writeFileSync(file, '');
  return {
    options: {
      entry: ownApp('composed.cjs'),
      workers: 2,
      config: WITH_CACHE,
      ...options,
      env: { RENDERS_FILE: file, NODE_ENV: 'production' },
    },
    asked: () => fs.readFileSync(file, 'utf8').split('\n').slice(0, -1),
  };
}

const page = (body: string, control?: string): string =>
  `/page?${new URLSearchParams({ body, ...(control === undefined ? {} : { control }) }).toString()}`;

async function get(sluice: Sluice, target: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${sluice.url}${target}`, { headers });
  return `${answer.status} ${await answer.text()}`;
}

async function counted(sluice: Sluice, include: string): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  const found = new RegExp(`^sluice_includes_total\\{include="${include}"\\} (\\d+)$`, 'm').exec(text);
  return Number(found?.[1] ?? Number.NaN);
}

void test('I7: a React list is rendered once, and each of 300 visitors gets their own cart in it', async (t) => {
  const { options, asked } = shop(t);
  const sluice = await running(t, options);
  const visit = async (visitor: number): Promise<void> => {
    const cookie = `canary=visitor-${visitor}`;
    const answer = await fetch(`${sluice.url}/listing`, { headers: { cookie } });
    const html = await answer.text();
    assert.equal(
      html,
      `<!DOCTYPE html><html><head></head><body><p>&lt;esi:include src=&quot;/no&quot;/&gt;</p>[${cookie}]</body></html>`,
    );
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
    for (const gone of ['etag', 'surrogate-control', 'set-cookie', 'content-length', 'last-modified'])
      assert.equal(answer.headers.get(gone), null, gone);
  };
  for (let from = 0; from < 300; from += 30)
    await Promise.all(Array.from({ length: 30 }, (_, at) => visit(from + at)));
  const counts = new Map<string, number>();
  for (const line of asked()) counts.set(line, (counts.get(line) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(counts), {
    'GET /listing': 1,
    'GET /cart?from=listing&at=1': 300,
  });
  assert.equal(await counted(sluice, 'sent'), 300);
  const kept = await sluice.cli(['cache', 'show', `${sluice.url}/listing`]);
  assert.doesNotMatch(kept.stdout, /No page of .* is cached|was not cached/);
  for (const target of ['/cart?from=listing&at=1', '/cart']) {
    const { stdout } = await sluice.cli(['cache', 'show', `${sluice.url}${target}`]);
    assert.match(stdout, /No page of .* is cached|was not cached/);
  }
});

void test('late and failed includes leave their alt or nothing, and log and metrics say so', async (t) => {
  const { options } = shop(t, { config: `${COMPOSE}include_ms_max = 400\n` });
  const sluice = await running(t, options);
  for (const [body, expected] of [
    ['a<esi:include src="/fails"/>b', 'ab'],
    ['a<esi:include src="/fails" alt="/nobody"/>b', 'anobodyb'],
    ['a<esi:include src="/moved"/>b', 'ab'],
    ['a<esi:include src="/wait?ms=30000" alt="/nobody"/>b<esi:include src="wait?ms=1"/>', 'anobodybwaited 1'],
    ['a<esi:include src="/dies" alt="/dies"/>b', 'ab'],
    ['a<esi:include src="//127.0.0.1:1/"/>b', 'ab'],
    ['a<esi:include src="/page?body=(<esi:include src=%27/nobody%27/>)"/>b', 'a(nobody)b'],
    ['a<esi:include nothing>b', 'a<esi:include nothing>b'],
    ['<esi:remove>a</esi:remove><!--esi b--><esi:comment text="c"/>', ' b'],
  ] as const) {
    assert.equal(await get(sluice, page(body)), `200 ${expected}`, body);
  }
  const counts = await Promise.all(
    ['sent', 'alt', 'late', 'failed', 'refused', 'malformed'].map((end) => counted(sluice, end)),
  );
  assert.deepEqual(counts, [3, 2, 0, 3, 1, 1]);
  const lines = await eventually(
    () => (sluice.logs.some((line) => line['target'] === '/wait?ms=30000') ? sluice.logs : undefined),
    { what: 'the line of the late include' },
  );
  const late = lines.find((line) => line['target'] === '/wait?ms=30000');
  assert.match(String(late?.['outcome']), /^client_gone_/);
  const id = String(late?.['request_id']).replace(/-\d+$/, '');
  const its = lines.find((line) => line['request_id'] === id);
  assert.deepEqual([its?.['includes'], its?.['includes_failed'], its?.['status']], [2, 1, 200]);
  assert.deepEqual(
    lines.filter((line) => String(line['request_id']).startsWith(`${id}-`)).length,
    3,
    'src, its alt and the other',
  );
});

void test('I1: one worker with one request at a time renders a page and its includes', async (t) => {
  const { options } = shop(t, { workers: 1, flags: STRICT, config: COMPOSE });
  const sluice = await running(t, options);
  const includes = Array.from({ length: 20 }, (_, at) => `<esi:include src="/wait?ms=${at}"/>`).join('');
  const nested = `<esi:include src="${page(includes).replaceAll('&', '&amp;')}"/>`;
  const expected = Array.from({ length: 20 }, (_, at) => `waited ${at}`).join('');
  assert.equal(await get(sluice, page(nested)), `200 ${expected}`);
  assert.equal((await sluice.status()).overlaps_total, 0);
});

void test('HEAD asks for no include, and conditions and ranges get the page as a whole', async (t) => {
  const { options, asked } = shop(t, { config: COMPOSE });
  const sluice = await running(t, options);
  const target = page('a<esi:include src="/cart"/>b');
  const head = await fetch(`${sluice.url}${target}`, { method: 'HEAD' });
  assert.deepEqual(
    [head.status, head.headers.get('content-length'), head.headers.get('etag')],
    [200, null, null],
  );
  assert.deepEqual(asked().length, 1);
  // The tag that Express gives to the raw page.
  const raw =
    (await fetch(`${sluice.url}${page('a<esi:include src="/cart"/>b', '')}`)).headers.get('etag') ?? '';
  assert.match(raw, /^W\//);
  for (const headers of [{ 'if-none-match': raw }, { range: 'bytes=0-1' }])
    assert.equal(await get(sluice, target, { ...headers, cookie: 'me' }), '200 a[me]b');
  const post = await fetch(`${sluice.url}${target}`, {
    method: 'POST',
    body: 'form',
    headers: { cookie: 'me' },
  });
  assert.equal(await post.text(), 'a[me]b', 'the answer to a form is a page as well');
});

void test('a page is composed over HTTP/2 and compressed for its client', { skip: missing }, async (t) => {
  const { options, asked } = shop(t, {
    config: `${WITH_CACHE}[compression]\nenabled = true\n`,
  });
  const tls = await startTls(t, options);
  const session = await connected(t, tls);
  const filler = 'all work and no play '.repeat(100);
  const target = page(
    `${filler}<esi:include src="/cart"/><esi:include src="/menu"/>`,
    'max-age=60, content="ESI/1.0"',
  );
  for (const [encoding, decode] of [
    ['br', zlib.brotliDecompressSync],
    ['gzip', zlib.gunzipSync],
  ] as const) {
    const asking = { ':path': target, cookie: `me=${encoding}`, 'accept-encoding': encoding };
    const answers = await Promise.all([0, 1, 2].map(() => answerTo(session.request(asking))));
    for (const answer of answers) {
      assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, encoding]);
      assert.equal(decode(Buffer.from(answer.body, 'latin1')).toString(), `${filler}[me=${encoding}]menu`);
    }
  }
  assert.deepEqual(
    ['/page', '/menu', '/cart'].map(
      (path) => asked().filter((line) => line.startsWith(`GET ${path}`)).length,
    ),
    [1, 1, 6],
  );
});

void test('a page that the app compresses all the same is sent as it is and named in the log', async (t) => {
  const { options } = shop(t, { config: COMPOSE });
  const sluice = await running(t, options);
  const target = `${page('<esi:include src="/cart"/>')}&encoding=identity`;
  assert.equal(await get(sluice, target, { cookie: 'me' }), '200 [me]');
  const odd = await fetch(`${sluice.url}${target.replace('identity', 'x-odd')}`, {
    headers: { cookie: 'me' },
  });
  assert.equal(await odd.text(), '<esi:include src="/cart"/>');
  assert.equal(await counted(sluice, 'failed'), 1);
  await eventually(
    () => sluice.stdout.includes('the page /page cannot be composed, because the app compressed it'),
    { what: 'the note of the page that cannot be read' },
  );
  assert.match(sluice.stdout, /compose\.enabled removes Accept-Encoding from requests to the app/);
});

void test('a page on a path without a password has no part of what needs one', async (t) => {
  // anna:secret
  const hash = '$2b$10$wgVNh/vyBIh0GWIQVk21LOYEn7zZexYusqT4gDWQAAEEdHkSgA4/S';
  const access = `[access]\nbasic_auth = { anna = "${hash}" }\nbasic_auth_exempt = ["/page"]\n`;
  const { options, asked } = shop(t, { config: `${COMPOSE}${access}` });
  const sluice = await running(t, options);
  const target = page('a<esi:include src="/cart"/>b');
  const basic = `Basic ${Buffer.from('anna:secret').toString('base64')}`;
  assert.equal(await get(sluice, target, { cookie: 'me' }), '200 ab');
  assert.equal(await get(sluice, target, { cookie: 'me', authorization: basic }), '200 a[me]b');
  assert.equal(await get(sluice, '/listing', { cookie: 'me' }).then((got) => got.slice(0, 3)), '401');
  const listing = await get(sluice, '/listing', { cookie: 'me', authorization: basic });
  assert.match(listing, /\[me\]<\/body>/);
  assert.equal(asked().filter((line) => line.startsWith('GET /cart')).length, 2);
});
