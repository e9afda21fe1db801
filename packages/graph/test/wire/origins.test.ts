// Which pages may change data, by what browsers say of them.
import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { test } from 'node:test';
import { graphHandler, type WireOptions } from '../../src/wire/index.js';
import { Router } from '../../src/router/index.js';
import { serveGraph, Shop } from './support.js';

const CALL = 'method=call&callPath=["lists","mine","push"]&arguments=[7]';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

type Headers = Readonly<Record<string, string>>;

/** Headers of a request, and whether its call is made. `HOST` stands for the server's own. */
const CASES: readonly (readonly [isMade: boolean, headers: Headers])[] = [
  [true, {}],
  [true, { origin: 'http://HOST' }],
  [true, { origin: 'http://shop.example', host: 'shop.example' }],
  [true, { origin: 'http://shop.example', host: 'Shop.example:80' }],
  [true, { origin: 'https://shop.example', host: 'shop.example:443' }],
  [true, { 'sec-fetch-site': 'same-origin', origin: 'null' }],
  [true, { 'sec-fetch-site': 'same-origin', origin: 'https://outside.example' }],
  [true, { 'sec-fetch-site': 'none' }],
  [false, { origin: 'http://evil' }],
  [false, { origin: 'http://HOST.evil.example' }],
  [false, { origin: 'http://evil.example/HOST' }],
  [false, { origin: 'http://HOST@evil.example' }],
  [false, { origin: 'http://shop.example:8080', host: 'shop.example' }],
  [false, { origin: 'http://a.shop.example', host: 'shop.example' }],
  [false, { origin: 'http://evil', 'x-forwarded-host': 'evil' }],
  [false, { origin: 'null' }],
  [false, { origin: '' }],
  [false, { origin: 'no address' }],
  [false, { 'sec-fetch-site': 'cross-site' }],
  [false, { 'sec-fetch-site': 'cross-site', origin: 'http://HOST' }],
  [false, { 'sec-fetch-site': 'same-site', origin: 'http://HOST' }],
  [false, { 'sec-fetch-site': '', origin: 'http://HOST' }],
];

async function statusOf(url: string, headers: Headers): Promise<number> {
  const own = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace('HOST', new URL(url).host),
  ]);
  return new Promise((resolve, reject) => {
    const asking = send(
      url,
      { method: 'POST', headers: { ...FORM, ...Object.fromEntries(own) } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    asking.once('error', reject);
    asking.end(CALL);
  });
}

async function served(t: Parameters<typeof serveGraph>[0], options?: WireOptions<unknown>) {
  const shop = new Shop();
  return { shop, url: await serveGraph(t, new Router(shop.routes()), options) };
}

void test('pages of other origins change nothing, and clients that are no browsers do', async (t) => {
  const { shop, url } = await served(t);
  for (const [isMade, headers] of CASES) {
    const before = shop.mine.length;
    assert.equal(await statusOf(url, headers), isMade ? 200 : 403, JSON.stringify(headers));
    assert.equal(shop.mine.length - before, isMade ? 1 : 0, JSON.stringify(headers));
  }
});

void test('an app lets in the origins that it names, or all', async (t) => {
  const { url } = await served(t, { isCrossSite: (origin) => origin === 'https://admin.example' });
  for (const site of [{}, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'cross-site' }]) {
    assert.equal(await statusOf(url, { ...site, origin: 'https://admin.example' }), 200);
    assert.equal(await statusOf(url, { ...site, origin: 'https://admin.example.evil' }), 403);
    assert.equal(await statusOf(url, { ...site, origin: 'null' }), 403);
  }
  assert.equal(await statusOf(url, { 'sec-fetch-site': 'cross-site' }), 403, 'it says no origin');
  assert.equal(await statusOf(url, {}), 200);
  const { url: open } = await served(t, { isCrossSite: true });
  for (const [, headers] of CASES) assert.equal(await statusOf(open, headers), 200, JSON.stringify(headers));
});

void test('requests of Fetch have their host in the address where no header says it', async () => {
  const graph = graphHandler(new Router(new Shop().routes()));
  const post = async (headers: Headers): Promise<number | undefined> => {
    const request = new Request('https://shop.example/model.json', {
      method: 'POST',
      headers: { ...FORM, ...headers },
      body: CALL,
    });
    return (await graph.fetch(request))?.status;
  };
  assert.equal(await post({}), 200);
  assert.equal(await post({ origin: 'https://shop.example' }), 200);
  assert.equal(await post({ origin: 'https://evil.example' }), 403);
  assert.equal(await post({ origin: 'https://evil.example', host: 'shop.example' }), 403);
  assert.equal(await post({ origin: 'http://inner:3000', host: 'inner:3000' }), 200);
});
