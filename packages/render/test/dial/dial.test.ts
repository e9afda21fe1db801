// How much the server renders: which share counts, who is on which side of it, and what caches are told.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';
import { Dial, shareOf } from '../../src/dial/dial.js';
import { cookiesOf, deviceOf, visitorOf, type Device, type Visitor } from '../../src/dial/visitor.js';
import type { RenderHost } from '../../src/host.js';
import type { RenderOptions } from '../../src/pages/options.js';
import { createPages } from '../../src/pages/pages.js';
import { boxesIn, pageDataIn, registryForTests, statesIn, textOf } from '../pages/support.js';

const visitor = (id: string, device: Device = 'desktop'): Visitor => ({ id, device, cookies: {} });

function requestOf(headers: Record<string, string>, remoteAddress = '192.0.2.1'): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

void test('the most specific share counts', () => {
  const shares = { '*': 0.5, '*@mobile': 0.4, Card: 0.3, 'Card@mobile': 0.2, 'Card@bot': 0.1 };
  assert.equal(shareOf(shares, 'Card', 'mobile'), 0.2);
  assert.equal(shareOf(shares, 'Card', 'desktop'), 0.3);
  assert.equal(shareOf(shares, 'List', 'mobile'), 0.4);
  assert.equal(shareOf(shares, 'List', 'desktop'), 0.5);
  assert.equal(shareOf(shares, 'Card', 'bot'), 0.1);
  assert.equal(shareOf(shares, 'List', 'bot'), 0.5);
  assert.equal(shareOf({}, 'toString', 'desktop'), 1);
});

void test('a share of visitors is that share of them, and each stays where they are while it grows', () => {
  const visitors = Array.from({ length: 4_000 }, (_, index) => visitor(`visitor-${index}`));
  let before = new Set<Visitor>();
  for (const share of [0, 0.1, 0.5, 0.9, 1]) {
    const inside = new Set(visitors.filter((each) => new Dial({ '*': share }, each).server('Card')));
    // Six standard deviations of a fair draw.
    const tolerance = 6 * Math.sqrt(share * (1 - share) * visitors.length);
    assert.ok(Math.abs(inside.size - share * visitors.length) <= tolerance, `${share}: ${inside.size}`);
    for (const each of before) assert.ok(inside.has(each));
    before = inside;
  }
});

void test('a visitor has one place for all components', () => {
  fc.assert(
    fc.property(fc.string(), (id) => {
      const dial = new Dial({ A: 0.5, B: 0.5, '*': 0.5 }, visitor(id));
      assert.equal(dial.server('A'), dial.server('B'));
      assert.equal(dial.server('A'), new Dial({ '*': 0.5 }, visitor(id)).server('C'));
    }),
    { seed },
  );
});

void test('the setting is how many boxes of the page the server renders, and only all and none are called so', () => {
  const settingOf = (client: number, server: number): string => {
    const dial = new Dial({ Client: 0 }, visitor('x'));
    for (let box = 0; box < client; box += 1) dial.count('Client');
    for (let box = 0; box < server; box += 1) dial.count('Server');
    return dial.setting;
  };
  assert.deepEqual(
    [
      settingOf(0, 0),
      settingOf(0, 60),
      settingOf(60, 0),
      settingOf(1, 199),
      settingOf(199, 1),
      settingOf(1, 2),
    ],
    ['s100', 's100', 's0', 's95', 's5', 's65'],
  );
});

void test('devices are told by the hint before the name, and bots by their name', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36';
  const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148';
  const google = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
  assert.equal(deviceOf({ 'user-agent': chrome }), 'desktop');
  assert.equal(deviceOf({ 'user-agent': iphone }), 'mobile');
  assert.equal(deviceOf({ 'user-agent': chrome, 'sec-ch-ua-mobile': '?1' }), 'mobile');
  assert.equal(deviceOf({ 'user-agent': google, 'sec-ch-ua-mobile': '?1' }), 'bot');
  assert.equal(deviceOf({ 'user-agent': `${chrome} CubotPhone` }), 'desktop');
  assert.equal(deviceOf({}), 'desktop');
});

void test('a visitor is known by the cookie, else by address and browser, else by a cookie that is set', () => {
  const known = visitorOf(requestOf({ cookie: 'a=1; sid=abc; sid=def' }), { cookie: 'sid' });
  assert.equal(known.visitor.id, 'abc');
  const headers = { 'user-agent': 'B' };
  const anonymous = visitorOf(requestOf(headers), { cookie: 'sid' });
  assert.deepEqual(anonymous, visitorOf(requestOf(headers), { cookie: 'sid' }));
  assert.notEqual(anonymous.visitor.id, visitorOf(requestOf(headers, '192.0.2.2')).visitor.id);
  assert.equal(anonymous.setCookie, undefined);
  const fresh = visitorOf(requestOf(headers), { cookie: 'sid', setsCookie: true });
  assert.match(
    fresh.setCookie ?? '',
    /^sid=[\da-f-]{36}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
  );
  const again = visitorOf(requestOf({ cookie: fresh.setCookie?.split(';')[0] ?? '' }), {
    cookie: 'sid',
    setsCookie: true,
  });
  assert.deepEqual([again.visitor.id, again.setCookie], [fresh.visitor.id, undefined]);
});

void test('whatever is sent as cookies gives texts by name, and no prototype', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      const cookies = cookiesOf(header);
      assert.equal(Object.getPrototypeOf(cookies), null);
      for (const value of Object.values(cookies)) assert.equal(typeof value, 'string');
    }),
    { seed },
  );
  assert.equal(cookiesOf('__proto__=x')['__proto__'], 'x');
});

void test('visitors for whom the server does not render get holes with all that the browser needs', async () => {
  const told: string[] = [];
  let shares: Readonly<Record<string, number>> = { '*': 0 };
  const paged: string[] = [];
  const host: RenderHost = {
    server: () => shares,
    vitalsPath: () => '/beacons',
    page: ({ setting, variant }) => void paged.push(`${setting} ${variant}`),
    rendered: ({ component, outcome, setting }) => told.push(`${component} ${outcome} ${setting}`),
  };
  const pages = createPages({ registry: registryForTests(), host });
  const tree = {
    boxes: [
      { component: 'Text', props: { title: 'a' } },
      { component: 'Static', props: { title: 'b' } },
      { component: 'Frame', slots: { main: [{ component: 'Text', props: { title: 'c' } }] } },
    ],
  };
  const html = await textOf(await pages.render(tree));
  assert.deepEqual(
    boxesIn(html).map(({ id, hole }) => [id, hole]),
    [
      ['b0', 'client'],
      ['b1', undefined],
      ['b2', 'client'],
      ['b2-0', 'client'],
    ],
  );
  const states = statesIn(html);
  assert.equal(states.get('b0'), '{"title":"a"}');
  const said = pageDataIn(html);
  assert.deepEqual([said['setting'], said['vitals']], ['s0', '/beacons']);
  assert.deepEqual(paged, ['s0 null']);
  assert.deepEqual(told.toSorted(), [
    'Frame client s0',
    'Static rendered s0',
    'Text client s0',
    'Text client s0',
  ]);
  // A changed dial counts from the next page on.
  shares = { Frame: 0 };
  const next = await textOf(await pages.render(tree));
  assert.deepEqual(
    boxesIn(next).map(({ hole }) => hole),
    [undefined, undefined, 'client', undefined],
  );
});

void test('a page that depends on the visitor is private, and one that depends on the device says so', async () => {
  const headersOf = async (
    server: Readonly<Record<string, number>>,
    options: RenderOptions = {},
  ): Promise<readonly unknown[]> => {
    const pages = createPages({
      registry: registryForTests(),
      server,
      visitor: { cookie: 'v', setsCookie: true },
    });
    const page = await pages.render(
      { boxes: [{ component: 'Text' }] },
      {},
      { headers: { 'Cache-Control': 'public, s-maxage=60', 'CDN-Cache-Control': 'max-age=60' }, ...options },
    );
    await textOf(page);
    const { headers } = page;
    return [
      headers['cache-control'],
      headers['cdn-cache-control'],
      headers['vary'],
      headers['set-cookie'] !== undefined,
    ];
  };
  const request = requestOf({ 'user-agent': 'B' });
  const shared = ['public, s-maxage=60', 'max-age=60'];
  assert.deepEqual(await headersOf({}, { request }), [...shared, undefined, false]);
  assert.deepEqual(await headersOf({ '*': 0 }, { request }), [...shared, undefined, false]);
  assert.deepEqual(await headersOf({ Other: 0.5 }, { request }), [...shared, undefined, false]);
  const devices = 'Sec-CH-UA-Mobile, User-Agent';
  const alone = 'private, no-cache';
  assert.deepEqual(await headersOf({ '*@mobile': 0 }, { request }), [...shared, devices, false]);
  assert.deepEqual(await headersOf({ '*': 0.5 }, { request }), [alone, undefined, undefined, true]);
  assert.deepEqual(await headersOf({ '*': 0.5, '*@bot': 1 }, { request }), [alone, undefined, devices, true]);
  const own = { request, headers: { 'cache-control': 'private, max-age=9', vary: 'Accept, user-agent' } };
  assert.deepEqual(await headersOf({ '*': 0.5, '*@bot': 1 }, own), [
    'private, max-age=9',
    undefined,
    'Accept, user-agent, Sec-CH-UA-Mobile',
    true,
  ]);
});
