/** @jsxRuntime automatic @jsxImportSource react */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
// Widgets: from props to commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as React from 'react';
import { COMMAND } from '../../src/stream/codes.ts';
import { createRoot, Widget, type ScreenRoot, type WidgetHandle, type WidgetProps } from '../../src/index.ts';
import { runs } from '../support/seed.ts';
import { Board, type Piece } from './support/board.ts';

function mount(element: React.ReactNode): {
  board: Board;
  root: ScreenRoot;
  show: (element: React.ReactNode) => void;
} {
  const board = new Board();
  const root = createRoot(board);
  const show = (next: React.ReactNode): void => {
    root.render(next);
    root.flush();
  };
  show(element);
  return { board, root, show };
}

function values(board: Board, index = 0): Record<string, number | string> {
  return Object.fromEntries(board.root.children[index]!.values);
}

const only = (board: Board): Piece => board.root.children[0]!;

void test('own values are written once, and again only where they differ', () => {
  const { board, show } = mount(
    <Widget
      style={{ width: 640, height: '50%', flexDirection: 'row', background: '#102030', clip: true }}
      text="Hello"
    />,
  );
  assert.deepEqual(values(board), {
    width: 640,
    height: '50%',
    flexDirection: 1,
    background: 0x102030ff,
    clip: 1,
    text: 'Hello',
  });
  const { words } = board;
  show(
    <Widget
      style={{ width: 640, height: '50%', flexDirection: 'row', background: '#102030', clip: true }}
      text="Hello"
    />,
  );
  assert.equal(board.words, words);
  show(<Widget style={{ width: 641 }} text="Hello" />);
  assert.deepEqual(values(board), { width: 641, text: 'Hello' });
  show(<Widget />);
  assert.deepEqual(values(board), {});
});

void test('colours are read in each form, and what is none is ignored', () => {
  const colors = [
    '#fff',
    '#0080ff',
    '#0080ff80',
    'rgb(1, 2, 3)',
    'rgba(1, 2, 3, 0.5)',
    'transparent',
    'rgb(1,2)',
    '#12',
  ];
  const shown = colors.map(
    (background) => values(mount(<Widget style={{ background }} />).board)['background'],
  );
  assert.deepEqual(shown, [-1, 0x0080ffff, 0x0080ff80, 0x010203ff, 0x01020380, 0, undefined, undefined]);
});

void test('of shorthands the more specific name wins, whatever comes first', () => {
  const { board, show } = mount(
    <Widget style={{ paddingLeft: 1, padding: 10, paddingVertical: 5, gap: 3 }} />,
  );
  assert.deepEqual(values(board), {
    paddingLeft: 1,
    paddingRight: 10,
    paddingTop: 5,
    paddingBottom: 5,
    rowGap: 3,
    columnGap: 3,
  });
  show(<Widget style={{ padding: 10 }} />);
  assert.deepEqual(values(board), { paddingLeft: 10, paddingRight: 10, paddingTop: 10, paddingBottom: 10 });
});

void test('a static style is defined once for all widgets that have it', () => {
  const shared = Object.freeze({ width: 10, transition: { opacity: 200 } });
  const { board, show } = mount([
    <Widget key="a" staticStyle={shared} />,
    <Widget key="b" staticStyle={shared} focusStyle={shared} />,
  ]);
  assert.equal(board.counts.get(COMMAND.DEFINE), 1);
  assert.deepEqual(
    [...board.styles.get(1)!],
    [
      ['width', 10],
      ['transition opacity', '200 0 0'],
    ],
  );
  assert.deepEqual(
    board.root.children.map(({ style, focusStyle }) => [style, focusStyle]),
    [
      [1, 0],
      [1, 1],
    ],
  );
  show([<Widget key="a" />, <Widget key="b" staticStyle={shared} />]);
  assert.deepEqual(
    board.root.children.map(({ style, focusStyle }) => [style, focusStyle]),
    [
      [0, 0],
      [1, 0],
    ],
  );
});

void test('a root with too many static styles sends more of them as own values', () => {
  const styles = Array.from({ length: 4_100 }, (_, index) => ({ width: index, height: 1 }));
  const { board, show } = mount(styles.map((style, index) => <Widget key={index} staticStyle={style} />));
  assert.equal(board.styles.size, 4_096);
  assert.deepEqual(values(board, 4_099), { width: 4_099, height: 1 });
  show(styles.map((style, index) => <Widget key={index} staticStyle={style} style={{ width: 7 }} />));
  assert.deepEqual(values(board, 4_099), { width: 7, height: 1 });
  show(styles.map((_, index) => <Widget key={index} />));
  assert.deepEqual(values(board, 4_099), {});
});

void test('styles and their values may be null, undefined or false by turns, as apps write conditions', () => {
  const nothing = [undefined, null, false];
  const styles = [
    ...nothing,
    { width: 10, padding: 3, transition: { x: 200, y: null } },
    { width: null, padding: null, transition: { x: null, y: { duration: 100 } } },
    { height: 5, transition: null },
    { width: 20, transition: false },
  ];
  const animations = [
    ...nothing,
    { opacity: { to: 1, duration: 10 } },
    { opacity: null },
    { opacity: false },
  ];
  const random = fc.record(
    {
      style: fc.constantFrom(...styles),
      staticStyle: fc.constantFrom(...styles),
      focusStyle: fc.constantFrom(...styles),
      animate: fc.constantFrom(...animations),
      text: fc.constantFrom(undefined, null, 'a'),
      focusable: fc.constantFrom(...nothing, true),
      onFocus: fc.constantFrom(...nothing),
      onKey: fc.constantFrom(...nothing),
    },
    { requiredKeys: [] },
  );
  // Beyond the limit static styles are own values.
  const many = Array.from({ length: 4_096 }, (_, index) => (
    <Widget key={index} staticStyle={{ height: index }} />
  ));
  for (const first of [null, many]) {
    const uncaught: unknown[] = [];
    const board = new Board();
    const root = createRoot(board, { onUncaughtError: (error) => uncaught.push(error) });
    const show = (props: unknown): void => {
      root.render(<Widget {...(props as WidgetProps)} />);
      root.flush();
    };
    root.render(first);
    root.flush();
    fc.assert(
      fc.property(random, random, (before, now) => {
        show(before);
        show(now);
        board.key('Enter', 1);
        assert.deepEqual(uncaught, []);
        const updated = values(board);
        root.render(null);
        root.flush();
        show(now);
        const shown = (all: typeof updated): typeof updated =>
          Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('transition')));
        assert.deepEqual(shown(updated), shown(values(board)));
      }),
      runs(200),
    );
  }
});

void test('equal shared styles are defined once, though each render has other objects', () => {
  const { board, show } = mount(null);
  for (let i = 0; i < 5_000; i++)
    show(<Widget focusStyle={{ opacity: 0.5, transition: { x: 100 } }} staticStyle={{ width: 1 }} />);
  assert.equal(board.counts.get(COMMAND.DEFINE), 2);
  assert.equal(only(board).style + only(board).focusStyle, 3);
  show(<Widget focusStyle={{ opacity: 0.6, transition: { x: 100 } }} staticStyle={{ width: 2 }} />);
  assert.equal(board.styles.get(only(board).style)?.get('width'), 2);
  show(<Widget focusStyle={{ opacity: 0.6, transition: { x: 101 } }} />);
  assert.equal(board.counts.get(COMMAND.DEFINE), 5);
});

void test('transitions and animations are written when they change', () => {
  const { board, show } = mount(
    <Widget
      style={{ transition: { x: { duration: 300, delay: 10, easing: 'ease-out' } } }}
      animate={{ opacity: { from: 0, to: 1, duration: 500, repeat: Infinity, alternate: true } }}
    />,
  );
  assert.deepEqual(values(board), {
    'transition x': '300 10 3',
    'animate opacity': `0 1 500 0 0 131071`,
  });
  const { words } = board;
  show(
    <Widget
      style={{ transition: { x: { duration: 300, delay: 10, easing: 'ease-out' } } }}
      animate={{ opacity: { from: 0, to: 1, duration: 500, repeat: Infinity, alternate: true } }}
    />,
  );
  assert.equal(board.words, words);
  show(<Widget />);
  assert.deepEqual(values(board), { 'transition x': '0 0 0' });
});

void test('a list in a new order moves the fewest widgets', () => {
  const keys = Array.from({ length: 20 }, (_, index) => index);
  const list = (order: readonly number[]): React.ReactNode =>
    order.map((key) => <Widget key={key} text={String(key)} />);
  const { board, show } = mount(list(keys));
  const before = board.counts.get(COMMAND.PLACE)!;
  const moved = [...keys.slice(0, 5), 19, ...keys.slice(5, 19)];
  show(list(moved));
  assert.equal(board.counts.get(COMMAND.PLACE)! - before, 1);
  assert.deepEqual(
    board.root.children.map(({ values }) => values.get('text')),
    moved.map(String),
  );
  show(list(moved.filter((key) => key % 2 === 0)));
  assert.equal(board.counts.get(COMMAND.PLACE)! - before, 1);
  assert.equal(board.counts.get(COMMAND.REMOVE), 10);
});

void test('of a subtree that goes only the top is removed, and its numbers are used again later', () => {
  const subtree = (
    <Widget key="a">
      <Widget>
        <Widget />
      </Widget>
    </Widget>
  );
  const { board, show } = mount([subtree, <Widget key="b" />]);
  show([<Widget key="b" />, <Widget key="c" />]);
  assert.equal(board.counts.get(COMMAND.REMOVE), 1);
  const created = [...board.pieces.keys()].toSorted((a, b) => a - b);
  assert.deepEqual(created, [0, 4, 5]);
  show([<Widget key="b" />, <Widget key="c" />, <Widget key="d" />]);
  assert.ok(Math.max(...board.pieces.keys()) <= 5);
});

void test('text as a child is an error that names the prop', () => {
  const errors: unknown[] = [];
  const root = createRoot(new Board(), { onUncaughtError: (error) => errors.push(error) });
  root.render(<Widget>{'Hello'}</Widget>);
  root.flush();
  assert.match(String(errors[0]), /put "Hello" into the `text` prop/);
});

void test('an element of the web is an error that names Widget', () => {
  const errors: unknown[] = [];
  const root = createRoot(new Board(), { onUncaughtError: (error) => errors.push(error) });
  root.render(<div />);
  root.flush();
  assert.match(String(errors[0]), /<div> is not supported on screens; use Widget/);
});

void test('a wrong type is an error that says what it is and where', () => {
  const errors: string[] = [];
  const root = createRoot(new Board(), { onUncaughtError: (error) => errors.push((error as Error).message) });
  let type: unknown;
  function Shelf(): React.ReactNode {
    return <Widget>{React.createElement(type as string)}</Widget>;
  }
  const mute = console.error;
  console.error = () => undefined;
  for (type of [undefined, { a: 1, default: 2 }, <Widget key="x" />, null]) {
    root.render(<Shelf key={errors.length} />);
    root.flush();
  }
  console.error = mute;
  const got = 'Element type is invalid: expected a component, but got';
  assert.deepEqual(errors, [
    `${got} undefined (a forgotten export, or default and named import mixed up?), below Shelf`,
    `${got} an object with keys {a, default}, below Shelf`,
    `${got} an element, below Shelf`,
    `${got} null, below Shelf`,
  ]);
});

void test('each wrong object is reported, and one without a prototype throws nothing', (t) => {
  const { mock } = t.mock.method(console, 'error', () => undefined);
  const { show } = mount(<Widget />);
  for (const style of [
    { width: { a: 1 } },
    { width: { a: 2 } },
    { width: Object.create(null) },
    { width: [1n] },
  ])
    show(<Widget style={style} />);
  const told = mock.calls.map(({ arguments: [text] }) => /width: .*/.exec(String(text))?.[0]);
  assert.deepEqual(told, ['width: {"a":1}', 'width: {"a":2}', 'width: {}', 'width: [object Array]']);
});

void test('frozen props and styles are fine', () => {
  const element = (width: number): React.ReactNode =>
    Object.freeze(React.createElement(Widget, Object.freeze({ style: Object.freeze({ width }) })));
  const { board, show } = mount(element(1));
  show(element(2));
  assert.deepEqual(values(board), { width: 2 });
});

void test('props may come from a prototype, as compiled code merges them', () => {
  const base = { style: { width: 1 }, text: 'base' };
  const merged = (text: string): WidgetProps => Object.setPrototypeOf({ text }, base) as WidgetProps;
  const type = Widget as unknown as string;
  const symbol = Symbol.for('react.transitional.element');
  const element = (text: string): React.ReactNode =>
    ({ $$typeof: symbol, type, key: null, ref: null, props: merged(text) }) as unknown as React.ReactNode;
  const { board, show } = mount(element('a'));
  assert.deepEqual(values(board), { width: 1, text: 'a' });
  show(element('b'));
  assert.deepEqual(values(board), { width: 1, text: 'b' });

  let renders = 0;
  const Memo = React.memo(function Inner({ text }: { text: string }) {
    renders++;
    return <Widget text={text} />;
  });
  const memo = (text: string): React.ReactNode =>
    ({
      $$typeof: symbol,
      type: Memo,
      key: null,
      props: Object.setPrototypeOf({}, { text }),
    }) as unknown as React.ReactNode;
  const second = mount(memo('a'));
  second.show(memo('a'));
  assert.equal(renders, 1);
  second.show(memo('b'));
  assert.equal(values(second.board)['text'], 'b');
});

void test('generated updates are called in place of the comparison', () => {
  const seen: string[] = [];
  const update: NonNullable<WidgetProps['$u']> = (node, before, now, out) => {
    seen.push(`${before.text} ${now.text}`);
    out.number(node.id, 12, 5);
  };
  const { board, show } = mount(
    <Widget text="a" $u={update} $m={(node, now, out) => out.property(node.id, 'text', `${now.text}!`)} />,
  );
  assert.deepEqual(values(board), { text: 'a!' });
  show(<Widget text="b" $u={update} />);
  assert.deepEqual(seen, ['a b']);
  assert.deepEqual(values(board), { text: 'a!', width: 5 });
  show(<Widget text="c" />);
  assert.deepEqual(values(board), { text: 'c', width: 5 });
});

void test('a key goes to the widget with the focus and those above, and is answered before the listener returns', () => {
  const keys: string[] = [];
  function App(): React.ReactNode {
    const [count, set] = React.useState(0);
    React.useEffect(() => {
      keys.push(`effect ${count}`);
    }, [count]);
    return (
      <Widget
        onKey={({ key }) => {
          keys.push(`above ${key}`);
        }}
      >
        <Widget
          focused
          text={String(count)}
          onKey={({ key }) => {
            keys.push(key);
            set(count + 1);
            return key === 'Enter';
          }}
        />
      </Widget>
    );
  }
  const { board } = mount(<App />);
  assert.equal(board.focused, only(board).children[0]!.id);
  keys.length = 0;
  board.key('Enter', 7);
  assert.deepEqual(keys, ['Enter', 'effect 1']);
  assert.equal(only(board).children[0]!.values.get('text'), '1');
  assert.equal(board.causes.at(-1), 7);
  board.key('Left', 8);
  assert.deepEqual(keys.slice(2), ['Left', 'above Left', 'effect 2']);
});

void test('an error of a handler is reported, and the root goes on', () => {
  const reported: unknown[] = [];
  const global = globalThis as { reportError?: unknown };
  global.reportError = (error: unknown) => reported.push(error);
  try {
    const { board, show } = mount(
      <Widget
        focused
        onKey={() => {
          throw new Error('handler');
        }}
      />,
    );
    board.key('Enter', 1);
    assert.match(String(reported[0]), /handler/);
    show(<Widget text="on" />);
    assert.equal(values(board)['text'], 'on');
  } finally {
    delete global.reportError;
  }
});

void test('a ref tells of the place, and gives the focus', () => {
  const ref = React.createRef<WidgetHandle>();
  const rects: unknown[] = [];
  const { board } = mount([
    <Widget key="a" focused />,
    <Widget
      key="b"
      ref={ref}
      focusable
      onLayout={(rect) => rects.push(rect)}
      onImage={(state) => rects.push(state)}
    />,
  ]);
  assert.equal(ref.current!.rect, null);
  assert.equal(board.root.children[1]!.values.get('reports'), 1);
  board.layout(ref.current!.id, 1, 2, 3, 4);
  board.image(ref.current!.id, 2);
  assert.deepEqual(ref.current!.rect, { x: 1, y: 2, width: 3, height: 4 });
  assert.deepEqual(rects, [{ x: 1, y: 2, width: 3, height: 4 }, 'failed']);
  ref.current!.focus();
  assert.equal(board.focused, ref.current!.id);
});

void test('several roots live beside each other, and unmount cleans up one', () => {
  const log: string[] = [];
  function App({ name }: { name: string }): React.ReactNode {
    React.useEffect(() => () => void log.push(name), [name]);
    return <Widget text={name} />;
  }
  const first = mount(<App name="a" />);
  const second = mount(<App name="b" />);
  first.root.unmount();
  assert.deepEqual(log, ['a']);
  assert.equal(first.board.pieces.size, 1);
  assert.equal(second.board.show(), '(b())');
});

void test('updates are batched into one commit in a microtask', async () => {
  let set: (value: number) => void = () => {};
  function App(): React.ReactNode {
    const [value, change] = React.useState(0);
    const [other, changeOther] = React.useState(0);
    set = (next) => {
      change(next);
      changeOther(next);
    };
    return <Widget text={`${value} ${other}`} />;
  }
  const { board } = mount(<App />);
  const { batches } = board;
  set(1);
  set(2);
  assert.equal(board.batches, batches);
  await Promise.resolve();
  assert.equal(board.batches, batches + 1);
  assert.equal(values(board)['text'], '2 2');
});

void test('another number of hooks is an error that says so', () => {
  const errors: unknown[] = [];
  let more = false;
  function App(): React.ReactNode {
    React.useState(0);
    // oxlint-disable-next-line react/rules-of-hooks -- what the test is about
    if (more) React.useRef(0);
    return null;
  }
  const root = createRoot(new Board(), { onUncaughtError: (error) => errors.push(error) });
  root.render(<App key="a" />);
  root.flush();
  more = true;
  root.render(<App key="a" />);
  root.flush();
  assert.match(String(errors[0]), /App: Rendered more hooks than during the previous render/);
});
