/** Keys, times and tags of the component cache, and how much it keeps. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ReactNode } from 'react';
import { React, sluice, stock } from './support/renderers.js';

const { Cached } = await import('../src/index.js');
const { ComponentCache } = await import('../src/cache/component-cache.js');
const { createElement: h } = React;

let made = 0;
const Counts = ({ children }: { children?: ReactNode }): ReactNode => {
  made += 1;
  return children;
};

function madeBy(node: ReactNode): number {
  const expected = stock.renderToString(node);
  const before = made;
  assert.equal(sluice.renderToString(node), expected);
  return made - before;
}

void test('a key of React serves, an explicit one counts before it, and null is no key', () => {
  sluice.purge();
  const page = (props: object): ReactNode => h('div', null, h(Cached, props, h(Counts, null, 'a')));
  assert.deepEqual([page({ key: 'k' }), page({ key: 'k' })].map(madeBy), [1, 0]);
  assert.equal(madeBy(page({ key: 'other', cacheKey: 'k' })), 0);
  assert.deepEqual([page({}), page({})].map(madeBy), [1, 1]);
  assert.deepEqual([page({ key: 'k', cacheKey: null })].map(madeBy), [1]);
});

void test('a key that is undefined is no key, whatever key React has', () => {
  sluice.purge();
  const page = (user?: string): ReactNode =>
    h('ul', null, [h(Cached, { key: 'menu', cacheKey: user }, h(Counts, null, user ?? 'nobody'))]);
  assert.deepEqual([page(), page()].map(madeBy), [1, 1]);
  assert.deepEqual([page('u1'), page('u2'), page('u1'), page()].map(madeBy), [1, 1, 0, 1]);
});

void test('keys that React.Children makes of places are refused, with one message', (context) => {
  sluice.purge();
  const report = context.mock.method(console, 'error', () => undefined);
  const List = ({ children }: { children: ReactNode }): ReactNode => React.Children.toArray(children);
  const page = (text: string, key?: string): ReactNode =>
    h('p', null, h(List, null, h(Cached, { key }, h(Counts, null, text)), h('i')));
  assert.deepEqual([page('a'), page('b'), page('a')].map(madeBy), [1, 1, 1]);
  assert.deepEqual([page('a', 'k'), page('b', 'k')].map(madeBy), [1, 1]);
  const given = h(Cached, { cacheKey: '.0' }, h(Counts, null, 'c'));
  assert.deepEqual([given, given].map(madeBy), [1, 1]);
  assert.equal(report.mock.callCount(), 1);
  assert.match(String(report.mock.calls[0]?.arguments[0]), /cache key "\.0" begins with a dot.*cacheKey/);
});

void test('a polluted prototype is no key', () => {
  sluice.purge();
  const page = (text: string): ReactNode => h('p', null, h(Cached, null, h(Counts, null, text)));
  Object.assign(Object.prototype, { cacheKey: 'one for all' });
  try {
    assert.deepEqual([page('a'), page('b')].map(madeBy), [1, 1]);
  } finally {
    delete (Object.prototype as { cacheKey?: string }).cacheKey;
  }
});

void test('a component has its own keys, in whatever it is wrapped', () => {
  sluice.purge();
  const Card = ({ id }: { id: string }): ReactNode => {
    made += 1;
    return h('p', null, id);
  };
  Card.cacheKey = ({ id }: { id: string }) => (id === '' ? null : id);
  const Like = Object.assign(({ id }: { id: string }): ReactNode => h('i', null, id), {
    cacheKey: Card.cacheKey,
  });
  class Old extends React.Component<{ id: string }> {
    static readonly cacheKey = Card.cacheKey;
    override render(): ReactNode {
      made += 1;
      return this.props.id;
    }
  }
  const forwarded = Object.assign(
    React.forwardRef<unknown, { id: string }>(({ id }) => h(Counts, null, id)),
    { cacheKey: Card.cacheKey },
  );
  for (const type of [Card, React.memo(Card), Old, forwarded]) {
    const again = type !== Card && type !== Old && type !== forwarded;
    assert.equal(madeBy(h('div', null, h(type as typeof Card, { id: '1' }))), again ? 0 : 1);
    assert.equal(madeBy(h('div', null, h(type as typeof Card, { id: '1' }))), 0);
    assert.ok(madeBy(h('div', null, h(type as typeof Card, { id: '' }))) === 1);
  }
  assert.equal(madeBy(h('div', null, h(Like, { id: '1' }))), 0);
});

void test('HTML is made anew when its time is over, or that of something within it', () => {
  let now_ms = 0;
  const cache = new ComponentCache<{ bytes: number; expires_at_ms: number; tags: Set<string> }>(
    1000,
    () => now_ms,
  );
  const entry = { bytes: 10, expires_at_ms: 5, tags: new Set<string>() };
  cache.add('a', entry);
  now_ms = 4;
  assert.equal(
    cache.find('a', () => true),
    entry,
  );
  now_ms = 5;
  assert.equal(
    cache.find('a', () => true),
    undefined,
  );
  cache.add('a', { ...entry, expires_at_ms: 50 });
  assert.deepEqual(cache.statistics, {
    entries: 1,
    bytes: 10,
    bytes_max: 1000,
    hits: 1,
    misses: 1,
    evictions: 0,
  });

  sluice.purge();
  const over = h(Cached, { cacheKey: 'inner', ttl_ms: -1 }, 'a');
  const page = h(Cached, { cacheKey: 'outer' }, h(Counts, null, over));
  assert.deepEqual([page, page].map(madeBy), [1, 1]);
});

void test('the cache stays within its bytes; what was used last is kept', () => {
  const cache = new ComponentCache<{ bytes: number; expires_at_ms: number; tags: Set<string> }>(100);
  const entry = (bytes: number): { bytes: number; expires_at_ms: number; tags: Set<string> } => ({
    bytes,
    expires_at_ms: Number.POSITIVE_INFINITY,
    tags: new Set<string>(),
  });
  const has = (key: string): boolean => cache.find(key, () => true) !== undefined;
  for (let at = 0; at < 10; at += 1) cache.add(String(at), entry(10));
  assert.ok(has('0'));
  cache.add('10', entry(10));
  assert.deepEqual([has('0'), has('1'), has('2')], [true, false, true]);
  cache.add('large', entry(13));
  assert.equal(has('large'), false);
  // Variants of one key are bounded, too.
  for (let at = 0; at < 20; at += 1) cache.add('0', entry(1));
  assert.equal(cache.statistics.entries, 8 + 8);
  assert.equal(cache.statistics.bytes, 8 * 1 + 8 * 10);
  assert.equal(cache.statistics.evictions, 2 + 13, 'two for room, and the oldest variants');
  cache.resize(0);
  assert.deepEqual([cache.statistics.entries, cache.statistics.bytes], [0, 0]);
  assert.equal(cache.statistics.evictions, 15 + 16, 'all, as there is no room');
});

void test('the process keeps as much as it is told to', () => {
  sluice.purge();
  const page = h(Cached, { cacheKey: 'a' }, h(Counts, null, 'a'));
  sluice.configureCache({ bytes_max: 0 });
  assert.deepEqual([page, page].map(madeBy), [1, 1]);
  sluice.configureCache({ bytes_max: 1 << 20 });
  assert.deepEqual([page, page].map(madeBy), [1, 0]);
  assert.ok(sluice.cacheStatistics().bytes > 0);
});

const tagged = h(
  Cached,
  { cacheKey: 'outer', tags: ['list'] },
  h('p', null, h(Cached, { cacheKey: 'inner', tags: ['product-1'] }, h(Counts, null, 'a'))),
);

void test('a purge drops what has the tag and what is around it, and nothing else', () => {
  sluice.purge();
  const other = h(Cached, { cacheKey: 'other', tags: ['product-2'] }, h(Counts, null, 'b'));
  madeBy(tagged);
  madeBy(other);
  assert.equal(sluice.purge('product-1'), 2);
  assert.equal(madeBy(tagged), 1);
  assert.equal(madeBy(other), 0);
  assert.equal(sluice.purge('list'), 1);
  // The outer one is made again, of the inner one's HTML.
  assert.equal(madeBy(tagged), 0);
  assert.equal(sluice.purge('product-1'), 2);
});

void test('what was being rendered when a purge came is not kept', () => {
  sluice.purge();
  const Purges = (): null => {
    sluice.purge('something');
    return null;
  };
  const page = h('div', null, h(Purges), h(Cached, { cacheKey: 'a' }, h(Counts, null, 'a')));
  assert.deepEqual([madeBy(page), madeBy(page)], [1, 1]);
});

void test('whoever renders is told the tags, of new HTML and of HTML used again', () => {
  sluice.purge();
  for (let time = 0; time < 3; time += 1) {
    const { result, tags } = sluice.collectTags(() => sluice.renderToString(tagged));
    assert.equal(result, '<p>a</p>');
    assert.deepEqual([...tags].toSorted(), ['list', 'product-1']);
  }
  assert.deepEqual([...sluice.collectTags(() => stock.renderToString(tagged)).tags], ['list', 'product-1']);
});

for (const [name, renderer] of Object.entries({ stock, sluice })) {
  void test(`the tags of a stream by ${name} are known when its shell is, and grow with it`, async () => {
    sluice.purge();
    const later = new Promise<ReactNode>((resolve) => void setImmediate(() => resolve('late')));
    const Waits = (): ReactNode => h(Cached, { tags: ['late'] }, React.use(later));
    const page = h('div', null, tagged, h(React.Suspense, null, h(Waits)));
    const seen: string[][] = [];
    await new Promise<void>((resolve) => {
      const { result: stream, tags } = sluice.collectTags(() =>
        renderer.renderToPipeableStream(page, {
          onShellReady: () => seen.push([...tags]),
          onAllReady: () => {
            seen.push([...tags]);
            stream.pipe(new Writable({ write: (_chunk, _encoding, done) => done(), final: () => resolve() }));
          },
        }),
      );
    });
    assert.deepEqual(seen, [
      ['list', 'product-1'],
      ['list', 'product-1', 'late'],
    ]);
  });
}

void test('a second copy of the package in the process purges and counts for both, and shares the budget', async () => {
  sluice.purge();
  const path = '../dist/server.js';
  const second: typeof sluice = await import(path);
  assert.notEqual(second.purge, sluice.purge);
  const page = (key: string): ReactNode => h(Cached, { cacheKey: key }, `${key}: ${'x'.repeat(1_000)}`);
  madeBy(page('a'));
  assert.equal(second.cacheStatistics().entries, 1);
  assert.equal(second.purge(), 1);
  assert.equal(sluice.cacheStatistics().entries, 0);

  const bytes_max = 32_000;
  sluice.configureCache({ bytes_max });
  for (let at = 0; at < 100; at += 1) {
    const copy = at % 2 === 0 ? sluice : second;
    copy.renderToString(page(`${at}`));
    assert.ok(second.cacheStatistics().bytes <= bytes_max, `${second.cacheStatistics().bytes} bytes`);
  }
  // The two used last, one of each copy; each uses what it has made.
  const { hits } = sluice.cacheStatistics();
  sluice.renderToString(page('98'));
  second.renderToString(page('99'));
  assert.equal(sluice.cacheStatistics().hits, hits + 2);
  sluice.configureCache({ bytes_max: 32 << 20 });
  sluice.purge();
});

void test('what is kept holds neither handlers nor refs, nor what a select was given', async () => {
  sluice.purge();
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  const held: WeakRef<object>[] = [];
  const made = <Value extends object>(value: Value): Value => {
    held.push(new WeakRef(value));
    return value;
  };
  const render = (): void => {
    const handler = (): (() => void) => made(() => undefined);
    const tags = [
      h('title', { key: 1, onClick: handler() }, 'title'),
      h('meta', { key: 2, onClick: handler(), name: 'a', content: 'b' }),
      h('link', { key: 3, onClick: handler(), ref: made({ current: null }), rel: 'icon', href: '/i' }),
      h('link', { key: 4, onClick: handler(), rel: 'stylesheet', href: '/s', precedence: 'p' }),
      h('style', { key: 5, onLoad: handler(), href: 't', precedence: 'p' }, 'p{}'),
      h('script', { key: 6, onClick: handler(), src: '/s.js', async: true }),
      h('img', { key: 7, onClick: handler(), src: '/i' }),
    ];
    const options = h(Cached, { cacheKey: 'option' }, h('option', { onClick: handler() }, 'o'));
    const select = h('select', { value: made(['o']) as never, multiple: true }, options);
    madeBy(h('main', null, h(Cached, { cacheKey: 'tags' }, tags), select));
  };
  render();
  assert.equal(sluice.cacheStatistics().entries, 2);
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    madeBy(h('p'));
    collect();
  }
  assert.deepEqual(
    held.map((each) => typeof each.deref()),
    held.map(() => 'undefined'),
  );
});
