/** The component cache: what is kept comes back as it would have been made, and only where all that it was made from is the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import { piped } from './support/piped.js';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const { Cached } = await import('../src/index.js');
const { createElement: h, Suspense, useId, use, useContext } = React;

type Api = 'renderToString' | 'renderToStaticMarkup';

const Theme = React.createContext<unknown>('none');
const Reads = (): ReactNode => h('b', null, JSON.stringify(useContext(Theme)));
const Id = (): ReactNode => h('i', { id: useId() });

let made = 0;
/** Counts how often it is rendered. */
const Counts = ({ children }: { children?: ReactNode }): ReactNode => {
  made += 1;
  return children;
};
const kept = (...children: ReactNode[]): ReactNode =>
  h(Cached, { cacheKey: 'it' }, h(Counts, null, ...children));

/** Renders by both; returns how often what is to be kept was made. */
function madeBy(node: ReactNode, api: Api = 'renderToString', options?: object): number {
  const expected = stock[api](node, options);
  const before = made;
  assert.equal(sluice[api](node, options), expected);
  return made - before;
}

void test('HTML is made once and used again in strings and in streams, each with their own', async () => {
  sluice.purge();
  const page = h('main', null, h('p', null, 'a'), kept(h('p', null, 'x & y'), 'text'), 'more');
  assert.equal(madeBy(page), 1);
  assert.equal(madeBy(page), 0);
  assert.equal(madeBy(page, 'renderToStaticMarkup'), 1);
  const expected = await piped(stock, page);
  const before = made;
  assert.equal(await piped(sluice, page), expected);
  assert.equal(await piped(sluice, page), expected);
  assert.equal(made - before, 1);
});

void test('what is longer than a piece of a stream comes back whole', async () => {
  sluice.purge();
  const row = (at: number): ReactNode => h('li', { key: at }, `${'äx'.repeat(40)} ${at}`);
  const page = h('ul', null, row(-1), kept(Array.from({ length: 300 }, (_, at) => row(at))), row(-2));
  const expected = await piped(stock, page);
  for (let time = 0; time < 3; time += 1) assert.equal(await piped(sluice, page), expected);
  assert.equal(sluice.cacheStatistics().entries, 1);
});

// What it was made from --------------------------------------------------------------------------------------------

class ReadsAsClass extends React.Component {
  static override contextType = Theme;
  override render(): ReactNode {
    return String(this.context);
  }
}

const [one, two] = [(): number => 1, (): number => 2];
const themed = (value: unknown, ...children: ReactNode[]): ReactNode => h(Theme, { value }, ...children);
const img = h('img', { src: '/i', alt: '' });

/** In each of the two pages the same is kept under the same key, but it has to be made anew. */
const differences: Record<string, [ReactNode, ReactNode, options?: [object, object]]> = {
  'a context read by useContext': [themed('a', kept(h(Reads))), themed('b', kept(h(Reads)))],
  'a context read by a consumer': [
    themed('a', kept(h(Theme.Consumer, { children: String }))),
    themed('b', kept(h(Theme.Consumer, { children: String }))),
  ],
  'a context read by a class': [themed('a', kept(h(ReadsAsClass))), themed('b', kept(h(ReadsAsClass)))],
  'a context among children': [
    themed('a', kept(Theme as unknown as ReactNode)),
    themed('b', kept(Theme as unknown as ReactNode)),
  ],
  'a context that nobody provides': [kept(h(Reads)), themed('b', kept(h(Reads)))],
  'data in a context': [
    themed({ names: ['a'] }, kept(h(Reads))),
    themed({ names: ['a', 'b'] }, kept(h(Reads))),
  ],
  'a function in a context': [themed({ one }, kept(h(Reads))), themed({ one: two }, kept(h(Reads)))],
  'a context read deeper, in something that is kept as well': [
    themed('a', kept(h(Cached, { cacheKey: 'inner' }, h(Reads)))),
    themed('b', kept(h(Cached, { cacheKey: 'inner' }, h(Reads)))),
  ],
  'the place in the tree of ids': [h('p', null, kept(h(Id))), h('p', null, 'a', kept(h(Id)))],
  'the prefix of ids': [kept(h(Id)), kept(h(Id)), [{ identifierPrefix: 'a' }, { identifierPrefix: 'b' }]],
  'text before it': [h('p', null, 'a', kept('b')), h('p', null, h('i'), kept('b'))],
  'the selected option': [
    h('select', { value: 'a', readOnly: true }, kept(h('option', { value: 'a' }))),
    h('select', { value: 'b', readOnly: true }, kept(h('option', { value: 'a' }))),
  ],
  'the selected options': [
    h('select', { multiple: true, value: ['a', 'b'] }, kept(h('option', { value: 'a' }))),
    h('select', { multiple: true, value: ['b'] }, kept(h('option', { value: 'a' }))),
  ],
  'the kind of document': [h('svg', null, kept(h('title'))), h('div', null, kept(h('title')))],
  'a picture around it': [h('picture', null, kept(img)), h('div', null, kept(img))],
  'noscript around it': [h('noscript', null, kept(h('title'))), h('div', null, kept(h('title')))],
  'what its children are': [
    h(Cached, { cacheKey: 'it' }, h(Counts, null, 'a')),
    h(Cached, { cacheKey: 'it' }, h('p', null, h(Counts, null, 'b'))),
  ],
};

for (const [name, [first, second, options = []]] of Object.entries(differences)) {
  void test(`I7: not across a difference in ${name}`, () => {
    sluice.purge();
    assert.equal(madeBy(first, 'renderToString', options[0]), 1);
    assert.ok(madeBy(second, 'renderToString', options[1]) > 0);
    // The difference was what made it new: without one, both come back.
    assert.equal(madeBy(first, 'renderToString', options[0]), 0);
    assert.equal(madeBy(second, 'renderToString', options[1]), 0);
  });
}

void test('data that was changed in place is another value', () => {
  sluice.purge();
  const data = { name: 'a' };
  const page = (): ReactNode => themed(data, kept(h(Reads)));
  madeBy(page());
  data.name = 'b';
  assert.equal(madeBy(page()), 1);
});

class Instance {
  name = 'a';
  toString(): string {
    return this.name;
  }
}
const nested = (depth: number, inner: unknown): unknown =>
  depth === 0 ? inner : { in: nested(depth - 1, inner) };

/** Each makes a value, and changes it in place. */
const changedInPlace: Record<string, () => readonly [value: unknown, change: () => void]> = {
  'an instance': () => {
    const value = new Instance();
    return [value, () => (value.name = 'b')];
  },
  'a map': () => {
    const value = new Map([['name', 'a']]);
    return [value, () => value.set('name', 'b')];
  },
  'an instance within data': () => {
    const value = new Instance();
    return [{ value }, () => (value.name = 'b')];
  },
  'deep data': () => {
    const inner = { name: 'a' };
    return [nested(9, inner), () => (inner.name = 'b')];
  },
  'very deep data': () => {
    const inner = { name: 'a' };
    return [nested(40, inner), () => (inner.name = 'b')];
  },
  'wide data': () => {
    const value = Array.from({ length: 200 }, () => 'a');
    return [value, () => (value[150] = 'b')];
  },
  'very wide data': () => {
    const value = Array.from({ length: 20 }, () => Array.from({ length: 200 }, () => 'a'));
    return [value, () => ((value[19] as string[])[150] = 'b')];
  },
  'a getter': () => {
    let name = 'a';
    const value = {
      get name(): string {
        return name;
      },
    };
    return [value, () => (name = 'b')];
  },
};

for (const [name, make] of Object.entries(changedInPlace)) {
  void test(`I7: ${name} in a context that was changed in place is another value`, () => {
    sluice.purge();
    const [value, change] = make();
    const Tells = (): ReactNode => {
      const seen: unknown = React.useContext(Theme);
      return seen instanceof Map ? JSON.stringify([...seen]) : JSON.stringify(seen);
    };
    const page = (): ReactNode => themed(value, kept(h(Tells)));
    madeBy(page());
    change();
    // `madeBy` compares with react-dom's HTML.
    assert.equal(madeBy(page()), 1);
  });
}

/** The two pages differ in something that what is kept does not read. */
const noDifferences: Record<string, [ReactNode, ReactNode]> = {
  'a context that it does not read': [themed('a', kept(h('p'))), themed('b', kept(h('p')))],
  'a context that is provided within': [
    themed('a', kept(h(Theme, { value: 1 }, h(Reads)))),
    themed('b', kept(h(Theme, { value: 1 }, h(Reads)))),
  ],
  'equal data in a context': [themed({ a: [1] }, kept(h(Reads))), themed({ a: [1] }, kept(h(Reads)))],
  'the place, when there are no ids': [h('p', null, kept(h('b'))), h('p', null, h('i'), kept(h('b')))],
  'a context within something kept, provided between': [
    themed('a', kept(themed(1, h(Cached, { cacheKey: 'inner' }, h(Reads))))),
    themed('b', kept(themed(1, h(Cached, { cacheKey: 'inner' }, h(Reads))))),
  ],
};

for (const [name, [first, second]] of Object.entries(noDifferences)) {
  void test(`across a difference in ${name}`, () => {
    sluice.purge();
    assert.equal(madeBy(first), 1);
    assert.equal(madeBy(second), 0);
  });
}

void test('what was read in something kept counts for what is around it, also when the inner HTML is used again', () => {
  sluice.purge();
  const inner = h(Cached, { cacheKey: 'inner' }, h(Reads), h(Id), h('title', null, 't'));
  const page = (theme: string, ...before: ReactNode[]): ReactNode =>
    themed(theme, h('p', null, ...before, kept(inner)));
  madeBy(themed('a', h('div', null, inner)));
  assert.equal(madeBy(page('a')), 1);
  assert.equal(madeBy(page('b')), 1);
  assert.equal(madeBy(page('a', h('i'))), 1);
  assert.deepEqual(
    [page('a'), page('b'), page('a', h('i'))].map((node) => madeBy(node)),
    [0, 0, 0],
  );
});

// What it does to the document ---------------------------------------------------------------------------------------

const Asks = (): ReactNode => {
  ReactDOM.preconnect('https://cdn.example');
  ReactDOM.preload('/font', { as: 'font' });
  ReactDOM.preinit('/s.css', { as: 'style', precedence: 'low' });
  ReactDOM.preinitModule('/m.js');
  return null;
};

const effects: Record<string, ReactNode> = {
  'a title': h('title', null, 'of the page'),
  'a meta tag': h('meta', { name: 'viewport', content: 'width=1' }),
  'a link': h('link', { rel: 'canonical', href: '/c' }),
  'a stylesheet': h('link', { rel: 'stylesheet', href: '/a.css', precedence: 'high' }),
  'a style': h('style', { href: 's', precedence: 'low' }, 'p{color:red}'),
  'a script': h('script', { async: true, src: '/a.js' }),
  'a link with a handler': h('link', { rel: 'canonical', href: '/c', onLoad: () => undefined }),
  'an image': h('img', { src: '/i', alt: '', fetchPriority: 'high', onLoad: () => undefined }),
  'calls of resource functions': h(Asks),
};

for (const [name, effect] of Object.entries(effects)) {
  void test(`${name} comes back with the HTML`, async () => {
    sluice.purge();
    const page = h('html', null, h('head'), h('body', null, 'a', kept(effect, 'b'), 'c'));
    assert.equal(madeBy(page), 1);
    assert.equal(madeBy(page), 0);
    // Also through something that is kept around it, and next to the same thing.
    const around = h('div', null, effect, h(Cached, { cacheKey: 'outer' }, kept(effect, 'b')));
    for (let time = 0; time < 3; time += 1) madeBy(around);
    const expected = await piped(stock, page);
    for (let time = 0; time < 3; time += 1) assert.equal(await piped(sluice, page), expected);
  });
}

// Never kept ---------------------------------------------------------------------------------------------------------

const settled = Object.assign(Promise.resolve('a'), { status: 'fulfilled' as const, value: 'a' });
const UsesPromise = (): ReactNode => use(settled);
const UsesStore = (): ReactNode =>
  React.useSyncExternalStore(
    () => () => undefined,
    () => 'a',
    () => 'a',
  );
const serverAction = Object.assign(() => null, {
  $$FORM_ACTION: () => ({ name: 'n', action: '/a', data: null }),
  bind: () => serverAction,
});
const UsesAction = (): ReactNode => {
  const [state, action] = React.useActionState<string | null>(serverAction as never, 'state');
  return h('form', { action: action as never }, state);
};

const never: Record<string, ReactNode> = {
  'a Suspense boundary': h(Suspense, null, 'a'),
  'a promise among children': settled,
  'a promise that is used': h(UsesPromise),
  'an external store': h(UsesStore),
  'a form with a function for an action': h('form', { action: () => undefined }),
  'a button with a server action': h('button', { formAction: serverAction }),
  'a state of a server action': h(UsesAction),
  'a tag of the document': h('html', null, h('body')),
};

for (const [name, content] of Object.entries(never)) {
  void test(`${name} keeps HTML from being kept`, () => {
    sluice.purge();
    for (let time = 0; time < 2; time += 1) assert.equal(madeBy(kept(content)), 1);
    // Nor is what is around it kept.
    for (let time = 0; time < 2; time += 1) {
      madeBy(h(Cached, { cacheKey: 'outer' }, 'a', kept(content)));
    }
    assert.equal(sluice.cacheStatistics().entries, 0);
  });
}

void test('what suspends is not kept, and comes when it is there', async () => {
  sluice.purge();
  const Waits = ({ of }: { of: Promise<string> }): ReactNode => h('p', null, use(of));
  const later = (): Promise<string> => new Promise((resolve) => void setImmediate(() => resolve('here')));
  const page = (): ReactNode =>
    h('div', null, 'a', h(Cached, { cacheKey: 'x' }, 'b', h(Waits, { of: later() }), 'c'), 'd');
  const expected = await piped(stock, page());
  assert.match(expected, /here/);
  for (let time = 0; time < 2; time += 1) assert.equal(await piped(sluice, page()), expected);
  assert.equal(sluice.cacheStatistics().entries, 0);
});

void test('what suspends takes nothing with it of what stands before it, and brings nothing twice', async () => {
  const later = new Map<object, Promise<string>>();
  const Waits = ({ of }: { of: object }): ReactNode => {
    if (!later.has(of)) later.set(of, new Promise((resolve) => void setImmediate(() => resolve('here'))));
    return use(later.get(of) as Promise<string>);
  };
  Waits.cacheKey = () => 'waits';
  const page = (): ReactNode =>
    h('div', null, kept(h('p', null, 'first')), 'then', h(Waits, { of: {} }), 'last');
  const expected = await piped(stock, page());
  for (let time = 0; time < 2; time += 1) {
    sluice.purge();
    assert.equal(await piped(sluice, page()), expected);
  }
});

void test('what threw a promise is not kept at its second try either', async () => {
  sluice.purge();
  let data: string | undefined;
  const Throws = (): ReactNode => {
    if (data === undefined) throw Promise.resolve().then(() => (data = 'here'));
    return h('p', null, data);
  };
  Throws.cacheKey = () => 'it';
  assert.match(await piped(sluice, h('div', null, h(Throws))), /here/);
  assert.equal(sluice.cacheStatistics().entries, 0);
});

void test('what throws is not kept', () => {
  sluice.purge();
  let fails = true;
  const Fails = (): ReactNode => {
    if (fails) throw new Error('no');
    return 'yes';
  };
  const page = h(
    'div',
    null,
    'a',
    h(Suspense, { fallback: 'none' }, 'b', kept(h('p'), h(Fails), h('p')), 'c'),
  );
  madeBy(page);
  fails = false;
  assert.equal(madeBy(page), 1);
  fails = true;
  // Once it is kept, nobody asks the component any more: that is what a key promises.
  assert.match(sluice.renderToString(page), /yes/);
});

void test('within a view transition nothing is kept and nothing is used', async () => {
  sluice.purge();
  const { ViewTransition } = React as unknown as {
    ViewTransition: React.ComponentType<{ name: string; children?: ReactNode }>;
  };
  const page = h('div', null, kept(h('p', null, 'a')));
  const animated = h('div', null, h(ViewTransition, { name: 'hero' }, kept(h('p', null, 'a'))));
  for (const node of [animated, page, animated, page]) {
    assert.equal(await piped(sluice, node), await piped(stock, node));
  }
  assert.match(await piped(stock, animated), / vt-/);
  assert.deepEqual(sluice.cacheStatistics().entries, 1);
});

void test('a page that a form was posted to keeps nothing and uses nothing', async () => {
  sluice.purge();
  const page = h('div', null, kept('a'));
  madeBy(page);
  const options = { formState: ['state', 'key', 'id', 0] } as never;
  const before = made;
  await piped(sluice, page, options);
  await piped(sluice, page, options);
  assert.equal(made - before, 2);
});
