/** Strings: what react-dom gives, for each feature by itself. The fuzzer (`differential/`) combines them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReactNode } from 'react';
import { React, ReactDOM, sluice, stock } from './support/renderers.js';

const { createElement: h, Suspense, useId, useState } = React;

function outcome(render: (node: ReactNode, options?: object) => string, node: ReactNode): string {
  try {
    return render(node, { identifierPrefix: 'p' });
  } catch (error) {
    return `throws ${String(error)}`;
  }
}

/** `make` is called for each render: elements hold state (lazy components, promises) that the first one uses up. */
function same(name: string, make: () => ReactNode): void {
  void test(`${name} as react-dom does`, () => {
    for (const api of ['renderToString', 'renderToStaticMarkup'] as const) {
      const expected = outcome(stock[api], make());
      assert.equal(outcome(sluice[api], make()), expected);
    }
    const bytes: typeof stock.renderToString = (node, options) =>
      sluice.renderToBuffer(node, options).toString();
    assert.equal(outcome(bytes, make()), outcome(stock.renderToString, make()));
    assert.deepEqual(sluice.statistics().reasons, {});
  });
}

const Theme = React.createContext('none');
const Reads = (): ReactNode => h(Theme.Consumer, { children: (value) => value });
const Id = (): ReactNode => h('i', { id: useId(), title: useId() }, h(Deeper));
const Deeper = (): ReactNode => h('b', { id: useId() });
const Waits = (): ReactNode => React.use(new Promise<string>(() => undefined));
const Fails = (): never => {
  throw new Error('no');
};

same('attributes are written', () =>
  h(
    'div',
    {
      className: 'a"b',
      style: { lineHeight: 1, width: 3, '--x': ' 5 ', msTransform: 'a', color: null, zIndex: 0 },
      hidden: true,
      'data-x': false,
      'aria-busy': true,
      onClick: () => undefined,
      tabIndex: 3,
      suppressHydrationWarning: true,
      unknownName: 'kept',
      'not valid': 'dropped',
      inert: true,
      spellCheck: false,
      ref: null,
    },
    h('a', { href: '' }, 'empty'),
    h('a', { href: 'java\nscript:alert(1)', download: true }),
    h('img', { src: '', alt: '' }),
    h('my-element', { className: 'c', flag: true, data: {}, onEvent: 'text' }),
    h('input', { size: 0, maxLength: 3, readOnly: true }),
  ),
);

same('neighbouring texts are kept apart', () =>
  h('p', null, 'a', 'b', 1, null, '', ['x', 'y'], false, 'z', h('br'), 10n, 'end'),
);

same('ids are made along nested arrays, fragments and components', () =>
  h(
    'main',
    null,
    h(Id),
    [h(Id, { key: 1 }), h('p', { key: 2 }, h(React.Fragment, null, h(Id), h(Id)))],
    Array.from({ length: 40 }, (_, index) => h('li', { key: index }, h(Id), [[h(Deeper, { key: 0 })]])),
  ),
);

same('a long way to a component overflows into its id', () => {
  let node: ReactNode = h(Id);
  for (let depth = 0; depth < 30; depth += 1) node = h('div', null, 'x', node, 'y');
  return node;
});

same('contexts are provided, nested and left', () =>
  h(
    'div',
    null,
    h(Theme.Provider, { value: 'outer' }, h(Reads), [
      h(Theme, { key: 1, value: 'inner' }, h(Reads)),
      h(Reads, { key: 2 }),
    ]),
    h(Reads),
  ),
);

function Counts(): ReactNode {
  const [count, setCount] = useState(0);
  const memo = React.useMemo(() => ({ count }), [count > 1]);
  const ref = React.useRef(0);
  ref.current += 1;
  if (count < 3) {
    setCount(count + 1);
    setCount((value) => value);
  }
  return [useId(), count, ' ', memo.count, ' ', ref.current];
}
same('a component that sets its state while it renders runs again', () => h('p', null, h(Counts)));

function Endless(): ReactNode {
  const [, set] = useState(0);
  set(1);
  return null;
}
same('a component that never stops setting its state is stopped', () => h(Endless));

class Old extends React.Component<{ given?: string }> {
  static defaultProps = { given: 'default' };
  static override contextType = Theme;
  override state = { steps: [] as string[] };
  override UNSAFE_componentWillMount(): void {
    this.setState({ steps: ['object'] });
    this.setState(({ steps }: Old['state']) => ({ steps: [...steps, 'function'] }));
  }
  override render(): ReactNode {
    return [String(this.context), this.props.given, ...this.state.steps, h(Id, { key: 'id' })];
  }
}
class Derived extends React.Component {
  override state = { own: 1 };
  static getDerivedStateFromProps = (): object => ({ derived: 2 });
  override render(): ReactNode {
    return JSON.stringify(this.state);
  }
}
same('classes have their state, default props and context', () =>
  h(Theme, { value: 'dark' }, h(Old), h(Old, { given: 'own' }), h(Derived)),
);

same('wrapped components are unwrapped', () => {
  const Inner = React.forwardRef<unknown, { a: number }>((props, ref) =>
    h('q', props as object, ref === null ? 'null' : 'given'),
  );
  const Late = React.lazy(
    // oxlint-disable-next-line unicorn/no-thenable -- it is ready at once, which no promise is
    () => ({ then: (done: (module: object) => void) => done({ default: Id }) }) as never,
  );
  return [
    h(React.memo(Inner), { key: 1, a: 1 }),
    h(Late, { key: 2 }),
    h(React.StrictMode, { key: 3 }, h(React.Profiler, { id: 'p', onRender: () => undefined }, 'profiled')),
    h(React.Activity, { key: 4, mode: 'visible', children: 'shown' }),
    h(React.Activity, { key: 5, mode: 'hidden', children: 'hidden' }),
  ];
});

same('Suspense shows content, and fallbacks for what waits or fails', () =>
  h(
    'div',
    null,
    'before',
    h(Suspense, { fallback: h('b', null, 'wait', h(Id)) }, h(Id), h(Waits)),
    h(Suspense, { fallback: 'unused' }, 'ready', h(Id)),
    h(Suspense, { fallback: h(Id) }, h(Theme, { value: 'x' }, h(Fails))),
    h(Reads),
    'after',
  ),
);

same('a document is put together with what belongs into its head', () =>
  h(
    'html',
    { lang: 'en' },
    h('head', null, h('title', null, 'T'), h('style', null, 'a</style>')),
    h(
      'body',
      { className: 'b' },
      h('img', { src: 'a.png' }),
      h('meta', { name: 'viewport', content: 'c' }),
      h('link', { rel: 'stylesheet', href: 'a.css', precedence: 'high' }),
      h('script', { src: 's.js', async: true }),
      'text',
      h('meta', { charSet: 'utf8' }),
      'text',
      h(() => {
        ReactDOM.preload('/f.woff', { as: 'font' });
        ReactDOM.preinit('/s2.js', { as: 'script' });
        return null;
      }),
    ),
  ),
);

const action = Object.assign(() => undefined, {
  $$FORM_ACTION(prefix: string) {
    const data = new FormData();
    data.append('field', '<value>');
    return { name: `$ACTION_${prefix}`, method: 'POST', encType: 'multipart/form-data', data };
  },
});
function Posted(): ReactNode {
  const [state, dispatch] = React.useActionState(action as never, 'initial');
  return h('form', { action: dispatch, className: 'f' }, state);
}
same('forms take actions, and controls their values', () => [
  h(Posted, { key: 0 }),
  h(
    'form',
    { key: 1, action: () => undefined, method: 'x' },
    h('input', { value: 'v', type: 'text', name: 'n', formAction: action as never, defaultChecked: true }),
    h('select', { value: ['b', 'c'], multiple: true, onChange: () => undefined }, [
      h('option', { key: 1 }, 'b'),
      h('optgroup', { key: 2, label: 'g' }, h('option', { value: 'c' }, 'd')),
    ]),
    h('textarea', { defaultValue: '\nx' }),
    h('button', { formAction: action as never, name: 'q' }, 'go'),
    h('pre', null, '\nx'),
  ),
]);

for (const [what, node] of Object.entries({
  'a portal': { $$typeof: Symbol.for('react.portal'), key: null, children: null } as never,
  'an object': { a: 1 } as never,
  'a tag that is none': h('a b'),
  'a void tag with children': h('br', null, 'x'),
  'a style that is a string': h('p', { style: 'color: red' as never }),
  'an undefined type': h(undefined as never),
})) {
  same(`${what} is refused`, () => h('div', null, node));
}

same('a page may be nested deeper than the stack', () => {
  let node: ReactNode = 'x';
  for (let depth = 0; depth < 20_000; depth += 1) node = h('div', null, node);
  return node;
});

void test('an error leaves nothing of its page behind', () => {
  assert.throws(() => sluice.renderToString(h(Theme, { value: 'leaked' }, h(Fails))), /no/);
  assert.equal(sluice.renderToString(h(Reads)), 'none');
  assert.throws(() => useState(0), TypeError);
});

void test('a page rendered within a component is a page of its own', () => {
  const Inner = (): ReactNode => [useId(), React.useContext(Theme)];
  const Outer = ({ render }: { render: typeof stock.renderToString }): ReactNode => {
    const id = useId();
    const html = render(h('p', null, h(Inner)));
    return [html, id, h(Inner, { key: 'after' })];
  };
  const page = (render: typeof stock.renderToString): ReactNode =>
    h(Theme, { value: 'outer' }, h(Outer, { render }));
  const expected = stock.renderToString(page(stock.renderToString));
  assert.equal(sluice.renderToString(page(sluice.renderToString)), expected);
});

void test('a state setter that outlives its render does nothing', () => {
  let late: (value: number) => void = () => undefined;
  const First = (): ReactNode => {
    const [value, set] = useState(1);
    late = set;
    return value;
  };
  const Second = (): ReactNode => {
    late(2);
    return useState(3)[0];
  };
  assert.equal(sluice.renderToString(h(First)), '1');
  assert.equal(sluice.renderToString(h(Second)), '3');
});

void test('a long page in bytes is that of its string, with places of boundaries and what the cache keeps', () => {
  const Row = ({ at }: { at: number }): ReactNode =>
    h(
      'li',
      { title: `"${at}"` },
      h('b', null, '★ ', at),
      at % 7 === 0 ? h(Suspense, { fallback: '…' }, h(Waits)) : 'é',
    );
  Object.assign(Row, { cacheKey: ({ at }: { at: number }) => (at % 5 === 0 ? String(at) : null) });
  const page = (): ReactNode =>
    h(
      'html',
      null,
      h('head', null, h('title', null, 'Long')),
      h(
        'body',
        null,
        Array.from({ length: 2_000 }, (_, at) => h(Row, { at, key: at })),
      ),
    );
  const expected = stock.renderToString(page());
  assert.ok(expected.length > 100_000);
  for (let round = 0; round < 2; round += 1) {
    assert.ok(sluice.renderToBuffer(page()).equals(Buffer.from(expected)));
    assert.equal(sluice.renderToString(page()), expected);
  }
  assert.deepEqual(sluice.statistics().reasons, {});
});

void test('what is kept of the bytes of a page is as large as the page', () => {
  const whole = sluice.renderToBuffer(h('p', null, 'short'));
  assert.equal(whole.buffer.byteLength, whole.length);
});
