// Which pages a purge by URL or prefix means, for caches of their parts: never fewer than the gateway drops.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagePurges, pageTag, pathOf } from '../src/caches.js';

/** Whether a purge means the page that a client asks for by this URL. */
function isMeant(purge: { url?: string; prefix?: string }, url: string): boolean {
  const purges = new PagePurges();
  const tag = pageTag(purge);
  assert.ok(tag !== undefined && purges.means(tag));
  purges.add(tag, 7);
  const path = pathOf(url);
  return purges.latestOf(path === undefined ? undefined : [path]) === 7;
}

void test('a purge by URL means its path, whatever the host, the query and the way in which it is written', () => {
  for (const url of ['/caf%C3%A9/1', '/café/1', 'https://shop.example/caf%c3%a9/1?a=1#x'])
    for (const asked of ['/caf%C3%A9/1', '/caf%c3%a9/1?b=2', '/café/1', 'http://shop.example/caf%C3%A9/1'])
      assert.ok(isMeant({ url }, asked), `${url} ${asked}`);
  for (const asked of ['/', '/caf%C3%A9', '/caf%C3%A9/10', '/caf%C3%A9/1/', '//caf%C3%A9/1'])
    assert.ok(!isMeant({ url: '/café/1' }, asked), asked);
});

void test('a purge by prefix means what begins so, and all where it ends within the host', () => {
  for (const prefix of ['/blog', '/blog/', '/blog/?page=', 'https://shop.example/blog/', '/blog/%C3'])
    assert.ok(isMeant({ prefix }, '/blog/%C3%A9?x'), prefix);
  assert.ok(isMeant({ prefix: '/x/' }, '/x/../blog'), 'as the gateway reads it');
  assert.ok(!isMeant({ prefix: '/blog/' }, '/blogs'));
  assert.ok(!isMeant({ prefix: '/blog/' }, '/'));
  for (const prefix of ['https://sh', 'https:/', '/', 'http://', '/%'])
    assert.ok(isMeant({ prefix }, '/anything'), prefix);
});

void test('a path that cannot be read is meant by every purge, and a URL that cannot be read means all', () => {
  assert.equal(pathOf('/%ff'), undefined);
  assert.ok(isMeant({ url: '/x' }, '/%ff'));
  assert.ok(isMeant({ url: '/%ff' }, '/x'));
  assert.equal(pageTag({}), undefined);
});

void test('I6: a limited number is remembered; beyond it the whole cache is purged', () => {
  for (const [of, bound] of [
    [(at: number) => ({ url: `/${at}` }), 1000],
    [(at: number) => ({ prefix: `/${at}` }), 100],
  ] as const) {
    const purges = new PagePurges();
    for (let at = 0; at < bound; at += 1) assert.ok(purges.add(String(pageTag(of(at))), at + 1));
    assert.ok(purges.add(String(pageTag(of(0))), 2000), 'the same again');
    assert.equal(purges.latestOf(['/0']), 2000);
    assert.equal(purges.add(String(pageTag(of(bound))), 2001), false);
    assert.equal(purges.latestOf(undefined), 0);
  }
});
