/** The component cache with `awaits`: what had to wait for promises comes back without waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import { piped } from './support/piped.js';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const { Cached } = await import('../src/index.js');
const { createElement: h, Suspense, use, useContext, useId } = React;

type Asks = () => Promise<string>;

let asked = 0;
const comes: Asks = () => {
  asked += 1;
  return new Promise((resolve) => void setImmediate(() => resolve('here')));
};
/** What `use` does not have to wait for. */
const isThere: Asks = () => Object.assign(Promise.resolve('here'), { status: 'fulfilled', value: 'here' });

const Context = React.createContext('nothing');
const Reads = (): ReactNode => h('b', null, useContext(Context));
const Id = (): ReactNode => h('i', { id: useId() });

interface WaitsProps {
  asks: Asks;
  children?: ReactNode;
}

/** Asks anew at each attempt, as `use` allows. */
const Waits = ({ asks, children }: WaitsProps): ReactNode => h('p', null, use(asks()), children);

const kept = (...children: ReactNode[]): ReactNode =>
  h(Cached, { cacheKey: 'it', awaits: true }, ...children);
const boundary = (...children: ReactNode[]): ReactNode => h(Suspense, { fallback: 'soon' }, ...children);

let ownAsks: Asks = isThere;
const Own = (): ReactNode => h('p', null, use(ownAsks()));
Own.cacheKey = () => 'own';
Own.cacheAwaits = true;

// Components are the same in each page: `Cached` tells its children apart by what they are.
const Text = ({ asks }: WaitsProps): ReactNode => use(asks());
const Passes = ({ asks }: WaitsProps): ReactNode => h(React.Fragment, null, h(Waits, { asks }, h(Id)));
const InTurn = ({ asks }: WaitsProps): ReactNode => (use(asks()) === 'here' ? h(Waits, { asks }) : null);
const Twice = ({ asks }: WaitsProps): ReactNode => h('p', null, use(asks()), use(asks()));

/** Rendered three times: the first has to wait, the others do not. */
const pages: Record<string, (asks: Asks) => ReactNode> = {
  'in a boundary': (asks) => h('main', null, boundary(kept(h(Waits, { asks })))),
  'in an element of the shell, between texts': (asks) =>
    h('main', null, 'before', kept(h(Waits, { asks })), 'behind'),
  'as the whole page': (asks) => kept(h(Waits, { asks })),
  'text, between texts': (asks) => h('main', null, 'before', kept(h(Text, { asks })), 'behind'),
  'behind components that write nothing': (asks) => h('main', null, boundary(kept(h(Passes, { asks })))),
  'one promise after another': (asks) => h('main', null, boundary(kept(h(InTurn, { asks })))),
  'one promise after another, in one component': (asks) =>
    h('main', null, boundary(kept(h(Twice, { asks })))),
  'a component that says so itself': (asks) => {
    ownAsks = asks;
    return h('main', null, 'before', h(Own), boundary(h(Own)));
  },
  'with a provider and ids within': (asks) =>
    h('main', null, boundary(kept(h(Context, { value: 'within' }, h(Waits, { asks }, h(Reads), h(Id)))))),
  'with something kept within': (asks) =>
    h(
      'main',
      null,
      boundary(kept(h(Waits, { asks }, h(Cached, { cacheKey: 'inner' }, h('b', null, 'inner'))))),
    ),
};

for (const [name, page] of Object.entries(pages)) {
  void test(`what waited comes back without waiting: ${name}`, async () => {
    sluice.purge();
    assert.equal(await piped(sluice, page(comes)), await piped(stock, page(comes)));
    const before = asked;
    const expected = await piped(stock, page(isThere));
    for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, page(comes)), expected);
    assert.equal(asked, before);
  });
}

void test('a promise that is there already counts as well', async () => {
  sluice.purge();
  const page = (asks: Asks): ReactNode => h('main', null, kept(h(Waits, { asks })), 'text');
  const expected = await piped(stock, page(isThere));
  for (const asks of [isThere, comes]) assert.equal(await piped(sluice, page(asks)), expected);
});

void test('what throws promises is kept as well', async () => {
  sluice.purge();
  let data: string | undefined;
  let calls = 0;
  const Throws = (): ReactNode => {
    calls += 1;
    if (data === undefined) throw Promise.resolve().then(() => (data = 'here'));
    return h('p', null, data);
  };
  for (let time = 0; time < 2; time += 1)
    assert.equal(await piped(sluice, h('div', null, kept(h(Throws)))), '<div><p>here</p></div>');
  assert.equal(calls, 2);
});

void test('a promise as a child is waited for and kept', async () => {
  sluice.purge();
  const page = (child: Promise<string>): ReactNode => h('main', null, kept(child as never));
  assert.match(await piped(sluice, page(comes())), /here/);
  assert.match(await piped(sluice, page(new Promise(() => undefined))), /here/);
});

void test('without `awaits`, and around what is kept with it, nothing is', async () => {
  for (const unlike of [{}, { awaits: false }]) {
    sluice.purge();
    const page = h('main', null, h(Cached, { cacheKey: 'x', ...unlike }, h(Waits, { asks: isThere })));
    await piped(sluice, page);
    assert.equal(sluice.cacheStatistics().entries, 0);
  }
  const around = h('main', null, h(Cached, { cacheKey: 'outer' }, h('u'), kept(h(Waits, { asks: comes }))));
  const expected = await piped(stock, around);
  for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, around), expected);
  // What is used again within it has been waited for once, so it is none of the outer one's either.
  for (let time = 0; time < 2; time += 1) {
    await piped(sluice, h('main', null, h(Cached, { cacheKey: 'outer' }, kept(h(Waits, { asks: isThere })))));
    assert.equal(sluice.cacheStatistics().entries, 1);
  }
});

void test('not across a difference that is only seen behind the wait', async () => {
  sluice.purge();
  const page = (value: string, ...before: ReactNode[]): ReactNode =>
    h(
      Context,
      { value },
      h('main', null, ...before, boundary(kept(h(Waits, { asks: comes }, h(Reads), h(Id))))),
    );
  for (const [value, before] of [
    ['a', []],
    ['b', []],
    ['b', [h('u', { key: 'u' })]],
  ] as const) {
    const earlier = asked;
    const expected = await piped(stock, page(value, ...before));
    const own = asked - earlier;
    assert.equal(await piped(sluice, page(value, ...before)), expected);
    assert.equal(asked - earlier, 2 * own, `${value} was asked for`);
  }
  const earlier = asked;
  await piped(sluice, page('a'));
  assert.equal(asked, earlier);
});

void test('what it put into the document comes back', async () => {
  sluice.purge();
  const Asks = (): ReactNode => {
    ReactDOM.preload('/late.png', { as: 'image', fetchPriority: 'high' });
    return h('title', null, 'late');
  };
  const page = (asks: Asks): ReactNode => h('main', null, kept(h(Waits, { asks }, h(Asks))));
  await piped(sluice, page(comes));
  assert.equal(await piped(sluice, page(comes)), await piped(stock, page(isThere)));
});

const never: Record<string, ReactNode> = {
  'more than what waits': [h(Waits, { asks: comes, key: 'a' }), h('p', { key: 'b' })],
  'something before what waits': [h('p', { key: 'b' }), h(Waits, { asks: comes, key: 'a' })],
  'two that wait': [h(Waits, { asks: comes, key: 'a' }), h(Waits, { asks: comes, key: 'b' })],
  'an element around what waits': h('div', null, h(Waits, { asks: comes })),
  'a boundary': boundary(h(Waits, { asks: comes })),
  'a boundary behind the wait': h(Waits, { asks: comes }, boundary('text')),
  'what waits behind the wait': h(Waits, { asks: comes }, h(Waits, { asks: comes })),
  'an action behind the wait': h(Waits, { asks: comes }, h('form', { action: () => undefined })),
};

for (const [name, content] of Object.entries(never)) {
  void test(`not kept, and as it would be without: ${name}`, async () => {
    sluice.purge();
    const page = h('main', null, 'a', boundary('b', kept(content), 'c'), 'd');
    const expected = await piped(stock, page);
    for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, page), expected);
    assert.equal(sluice.cacheStatistics().entries, 0);
  });
}

void test('what is rejected, or purged or given up meanwhile, is not kept', async () => {
  sluice.purge();
  const rejects: Asks = () => new Promise((_, reject) => void setImmediate(() => reject(new Error('no'))));
  const purges: Asks = () => comes().finally(() => sluice.purge());
  for (const asks of [rejects, purges]) {
    const page = h('main', null, boundary(kept(h(Waits, { asks }))));
    assert.equal(await piped(sluice, page), await piped(stock, page));
    assert.equal(sluice.cacheStatistics().entries, 0);
  }
  const never = (): Promise<string> => new Promise(() => undefined);
  for (const renderer of [stock, sluice]) {
    const stream = renderer.renderToPipeableStream(boundary(kept(h(Waits, { asks: never }))), {
      onError: () => undefined,
    });
    await new Promise(setImmediate);
    stream.abort(new Error('given up'));
  }
  assert.equal(sluice.cacheStatistics().entries, 0);
});

const Shows = ({ value }: { value: unknown }): ReactNode => h('p', null, use(comes()), String(value));
const Hands = ({ children }: { children?: ReactNode }): ReactNode =>
  use(comes()) === 'here' ? children : null;
const ReadsThenWaits = (): ReactNode => h(Shows, { value: useContext(Context) });
const OwnInner = (): ReactNode => h(ReadsThenWaits);
OwnInner.cacheKey = () => 'inner';
const OwnOuter = (): ReactNode => h(OwnInner);
Object.assign(OwnOuter, { cacheKey: () => 'outer', cacheAwaits: true });
const StoreThenWaits = ({ value }: { value: string }): ReactNode => {
  const never = (): (() => void) => () => undefined;
  return h(Shows, {
    value: React.useSyncExternalStore(
      never,
      () => value,
      () => value,
    ),
  });
};
const inner = (awaits: boolean, child: ReactNode): ReactNode =>
  h(Cached, { cacheKey: 'inner', awaits }, child);

/** What is read in something kept within, before the task waits as a whole, decides about what is kept around it. */
const readWithin: Record<string, (value: string) => ReactNode> = {
  'a context, behind a first wait': () => boundary(kept(h(Hands, null, inner(false, h(ReadsThenWaits))))),
  'a context, behind a first wait, in what is kept itself': () =>
    boundary(kept(h(Hands, null, inner(true, h(ReadsThenWaits))))),
  'a context, at the root': () => kept(inner(false, h(ReadsThenWaits))),
  'a context, at the root, in what is kept itself': () => kept(inner(true, h(ReadsThenWaits))),
  'a context that is provided anew before the wait': () =>
    kept(inner(false, h(Context.Consumer, { children: (value) => themed('const', h(Shows, { value })) }))),
  'a context, in components that say so themselves': () => h(OwnOuter),
  'a store': (value) => kept(inner(false, h(StoreThenWaits, { value }))),
};
const themed = (value: string, ...children: ReactNode[]): ReactNode => h(Context, { value }, ...children);

for (const [name, content] of Object.entries(readWithin)) {
  void test(`not across a difference that something kept within has read: ${name}`, async () => {
    sluice.purge();
    for (const value of ['a', 'b', 'a', 'b', 'c']) {
      const page = themed(value, content(value));
      assert.match(await piped(sluice, page), new RegExp(`here(<!-- -->)?${value}<`));
    }
  });
}

void test('not what a context has become while something was waited for', async () => {
  sluice.purge();
  const Data = React.createContext<{ name?: string }>({});
  const asks = new WeakMap<object, Promise<void>>();
  const Profile = ({ name }: { name: string }): ReactNode => {
    const data = useContext(Data);
    if (!asks.has(data))
      asks.set(
        data,
        comes().then(() => void (data.name = name)),
      );
    use(asks.get(data) as Promise<void>);
    return h('b', null, data.name);
  };
  for (const name of ['a', 'b']) {
    const page = h(Data, { value: {} }, h('p', null, boundary(kept(h(Profile, { name })))));
    assert.match(await piped(sluice, page), new RegExp(`<b>${name}</b>`));
  }
});

/** What it waits for is made from what a context holds at that time. */
const Loads = (): ReactNode => {
  const request = useContext(Request);
  return h('p', null, use(loadedFor(request, request.user)));
};
const Request = React.createContext<{ user: string }>({ user: 'nobody' });
const loaded = new WeakMap<object, Promise<string>>();
function loadedFor(request: object, user: string): Promise<string> {
  let promise = loaded.get(request);
  if (promise === undefined) loaded.set(request, (promise = comes().then(() => `hello ${user}`)));
  return promise;
}
class LoadsAsClass extends React.Component {
  static override contextType = Request;
  static cacheKey = (): string => 'class';
  static cacheAwaits = true;
  override render(): ReactNode {
    const request = this.context as { user: string };
    return h('p', null, use(loadedFor(request, request.user)));
  }
}
const OwnLoads = Object.assign(() => Loads(), { cacheKey: () => 'own', cacheAwaits: true });
const loading: Record<string, ReactNode> = {
  'in something kept': kept(h(Loads)),
  'in a component that says so itself': h(OwnLoads),
  'in such a component, in something kept': kept(h(OwnLoads)),
  'in a memo': h(
    Object.assign(
      React.memo(() => Loads()),
      { cacheKey: () => 'memo', cacheAwaits: true },
    ),
  ),
  'in a class': h(LoadsAsClass),
};

for (const [name, content] of Object.entries(loading)) {
  void test(`not what was made from a context that has become another: ${name}`, async () => {
    sluice.purge();
    const request = { user: 'a' };
    const first = piped(sluice, h(Request, { value: request }, h('main', null, content)));
    await new Promise<void>((done) => process.nextTick(done));
    request.user = 'b';
    assert.match(await first, /hello a/);
    assert.match(
      await piped(sluice, h(Request, { value: { user: 'b' } }, h('main', null, content))),
      /hello b/,
    );
  });
}

void test('a store that a class reads is not kept', async () => {
  let value = 1;
  class Store extends React.Component {
    static cacheKey = (): string => 'store';
    override render(): ReactNode {
      const none = (): (() => void) => () => undefined;
      return h(
        'p',
        null,
        React.useSyncExternalStore(
          none,
          () => value,
          () => value,
        ),
      );
    }
  }
  for (value = 1; value < 4; value += 1) {
    assert.equal(sluice.renderToString(h(Store)), stock.renderToString(h(Store)));
    assert.equal(await piped(sluice, kept(h(Store))), await piped(stock, h(Store)));
  }
});

void test('what is asked of the document while something is waited for keeps HTML from being kept', async () => {
  const Late = async (): Promise<ReactNode> => {
    await comes();
    ReactDOM.preconnect('//late');
    return h('p', null, 'here');
  };
  const load = async (): Promise<string> => {
    await comes();
    ReactDOM.preconnect('//late');
    return 'here';
  };
  const OwnLate = Object.assign(() => h('p', null, use(load())), { cacheKey: () => 'o', cacheAwaits: true });
  for (const content of [kept(h(Late as never)), h(OwnLate)]) {
    sluice.purge();
    const page = h('main', null, boundary(content));
    for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, page), await piped(stock, page));
    assert.equal(sluice.cacheStatistics().entries, 0);
  }
});

void test('it is kept within what is not, and the innermost counts', async () => {
  sluice.purge();
  const around = (user: string): ReactNode =>
    h(
      Cached,
      { cacheKey: `around ${user}`, awaits: true },
      h('h1', null, user),
      h('div', null, kept(h(Waits, { asks: comes }))),
    );
  assert.match(await piped(sluice, around('a')), /here/);
  const before = asked;
  assert.match(await piped(sluice, around('b')), /here/);
  assert.equal(asked, before);
  sluice.purge();
  const chain = (user: string): ReactNode =>
    h(Cached, { cacheKey: `chain ${user}`, awaits: true }, kept(h(Waits, { asks: comes })));
  assert.match(await piped(sluice, chain('a')), /here/);
  const later = asked;
  assert.match(await piped(sluice, chain('b')), /here/);
  assert.equal(asked, later);
});

void test('who does not say `awaits` gets nothing that has waited', async () => {
  sluice.purge();
  await piped(sluice, kept(h(Waits, { asks: comes })));
  const before = asked;
  await piped(sluice, h(Cached, { cacheKey: 'it' }, h(Waits, { asks: comes })));
  assert.ok(asked > before);
});

void test('two pages that wait for it at the same time', async () => {
  sluice.purge();
  const page = h('main', null, boundary(kept(h(Waits, { asks: comes }))));
  const expected = await piped(stock, page);
  assert.deepEqual(await Promise.all([piped(sluice, page), piped(sluice, page)]), [expected, expected]);
  assert.equal(sluice.cacheStatistics().entries, 1);
});
