/** @jsxRuntime automatic @jsxImportSource react */
/** Screens rendered by a server: whole, safe, within limits, and taken over by a root without a command. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  Component,
  createContext,
  createElement,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  use,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useState,
} from 'react';
import { showScreen } from '../../src/adopt/index.ts';
import type { ScreenJson, WidgetJson } from '../../src/adopt/json.ts';
import { createRoot, Widget, type WidgetProps } from '../../src/index.ts';
import { renderScreen, ScreenLimitError } from '../../src/server/index.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';
import { runs } from '../support/seed.ts';

const size = { width: 1280, height: 720 };

function textsOf(widgets: readonly WidgetJson[]): unknown[] {
  return widgets.flatMap(({ values = {}, children = [] }) => [
    ...('text' in values ? [values['text']] : []),
    ...textsOf(children),
  ]);
}

const unnumbered = (tree: string): string => tree.replace(/^( *\*?)\d+ /gm, '$1');

/** Shows the JSON, lets a root take it over, and returns the commands that this took. */
async function takeOver(
  json: ScreenJson,
  element: ReactNode,
): Promise<{ surface: HeadlessSurface; commands: number }> {
  const surface = new HeadlessSurface(size);
  const shown = showScreen(surface, JSON.parse(JSON.stringify(json)) as ScreenJson);
  surface.advance(16);
  const { commands } = surface;
  const root = createRoot(surface, { adopt: shown });
  root.render(element);
  root.flush();
  await Promise.resolve();
  return { surface, commands: surface.commands - commands };
}

const bar = { height: 8, background: '#ffffff', borderRadius: 4 };
const lit = { borderColor: '#ffcc00', scale: 1.1 };

function Shop({ title }: { title: string }): ReactElement {
  const [count, setCount] = useState(0);
  return (
    <Widget staticStyle={{ width: 1280, height: 720, padding: 40 }} focusArea={{ direction: 'column' }}>
      <Widget text={`${title} ${count}`} style={{ fontSize: 40 }} />
      <Widget focusArea={{ direction: 'row' }} style={{ flexDirection: 'row', gap: 20 }}>
        {['One', 'Two', 'Three'].map((name) => (
          <Widget
            key={name}
            focusable
            focused={name === 'Two'}
            focusStyle={lit}
            style={{ width: '20%', height: 90, transition: { scale: 120 } }}
            onKey={({ key }) => {
              if (key === 'Enter') setCount(count + 1);
            }}
          >
            <Widget text={name} />
          </Widget>
        ))}
      </Widget>
      <Widget staticStyle={bar} animate={{ x: { to: 400, duration: 5000 } }} />
      <Widget image="/a.png" style={{ width: 40, height: 40 }} onImage={() => undefined} />
    </Widget>
  );
}

test('an app takes its server-rendered screen over without a command, with the focus where it is', async () => {
  const json = await renderScreen(<Shop title="Tidewick" />, size);
  const { surface, commands } = await takeOver(json, <Shop title="Tidewick" />);
  assert.equal(commands, 0);
  assert.match(surface.tree(), /\*\d+ .*\n.*"Two"/);
  // The widgets are the root's now: keys reach them, and updates find them.
  surface.press('Enter');
  assert.match(surface.tree(), /text="Tidewick 1"/);
  surface.press('ArrowRight');
  assert.match(surface.tree(), /\*\d+ .*\n.*"Three"/);
  const fresh = new HeadlessSurface(size);
  const root = createRoot(fresh);
  root.render(<Shop title="Tidewick" />);
  root.flush();
  fresh.press('Enter');
  fresh.press('ArrowRight');
  // Transitions and animations began at different times.
  for (const each of [surface, fresh]) each.advance(10_000);
  assert.equal(unnumbered(surface.tree()), unnumbered(fresh.tree()));
});

test('what differs is sent alone', async () => {
  const json = await renderScreen(<Shop title="Tidewick" />, size);
  const { surface, commands } = await takeOver(json, <Shop title="Harbour" />);
  assert.equal(commands, 1);
  assert.match(surface.tree(), /text="Harbour 0"/);
});

interface Tree {
  readonly props: WidgetProps;
  readonly children: readonly Tree[];
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    props: fc.oneof(
      fc.record({ style: fc.record({ width: fc.nat(300), opacity: fc.constantFrom(0.5, 1, 0.3) }) }),
      fc.record({ staticStyle: fc.constantFrom(bar, lit), focusable: fc.boolean() }),
      fc.record({ image: fc.constantFrom('/a.png', '/b.png'), focusStyle: fc.constant(lit) }),
      fc.record({
        focusArea: fc.constantFrom({ direction: 'spatial' } as const, { direction: 'row' } as const),
      }),
    ),
    children: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant([]),
      fc.array(tie('tree'), { maxLength: 4 }),
    ),
  }),
}));

function element({ props, children }: Tree, key: number): ReactElement {
  const shown = children.length === 0 && props.style !== undefined ? { ...props, text: `t${key}` } : props;
  return createElement(
    Widget as never,
    { ...shown, key } as never,
    ...(shown === props ? children.map(element) : []),
  );
}

test('random trees: equal ones take no command, others end as a fresh mount', async () => {
  await fc.assert(
    fc.asyncProperty(tree, tree, async (before, after) => {
      const json = await renderScreen(element(before, 0), size);
      const same = await takeOver(json, element(before, 0));
      assert.equal(same.commands, 0);
      const { surface } = await takeOver(json, element(after, 0));
      const fresh = new HeadlessSurface(size);
      const root = createRoot(fresh);
      root.render(element(after, 0));
      root.flush();
      for (const each of [surface, fresh]) each.advance(32);
      assert.equal(unnumbered(surface.tree()), unnumbered(fresh.tree()));
      assert.equal(surface.widgets, fresh.widgets);
    }),
    runs(100),
  );
});

test('Suspense is awaited, whatever waits: use, a thrown promise, lazy, one after the other', async () => {
  const later = <T,>(value: T): Promise<T> =>
    new Promise((resolve) => {
      setTimeout(resolve, 5, value);
    });
  const one = later('one');
  let two: string | undefined;
  const thrown = later('two').then((value) => (two = value));
  const Lazy = lazy(() => later({ default: () => <Widget text="three" /> }));
  const One = (): ReactElement => <Widget text={use(one)} />;
  const Two = (): ReactElement => {
    // oxlint-disable-next-line typescript/only-throw-error -- how components of React 18 wait
    if (two === undefined) throw thrown;
    return (
      <Suspense fallback={<Widget text="inner" />}>
        <Widget text={two} />
        <Lazy />
      </Suspense>
    );
  };
  const json = await renderScreen(
    <Suspense fallback={<Widget text="outer" />}>
      <One />
      <Two />
    </Suspense>,
    size,
  );
  assert.deepEqual(textsOf(json.widgets), ['one', 'two', 'three']);
  assert.equal(json.partial, undefined);
});

test('what does not come in time is left as its fallback', async () => {
  const never = new Promise<string>(() => undefined);
  const Late = (): ReactElement => <Widget text={use(never)} />;
  const json = await renderScreen(
    <Widget>
      <Widget text="there" />
      <Suspense fallback={<Widget text="soon" />}>
        <Late />
      </Suspense>
    </Widget>,
    { ...size, timeoutMs: 20 },
  );
  assert.deepEqual(textsOf(json.widgets), ['there', 'soon']);
  assert.equal(json.partial, true);
});

test('no effect, ref or timer of an app runs on the server', async () => {
  const ran: string[] = [];
  const App = (): ReactElement => {
    useEffect(() => void ran.push('effect'));
    useLayoutEffect(() => void ran.push('layout'));
    return <Widget ref={() => void ran.push('ref')} text={useId()} />;
  };
  class Old extends Component {
    override componentDidMount(): void {
      ran.push('mount');
    }

    override render(): ReactNode {
      return <App />;
    }
  }
  const json = await renderScreen(<Old />, size);
  assert.equal(textsOf(json.widgets).length, 1);
  assert.deepEqual(ran, []);
});

test('renders that take turns keep their contexts apart', async () => {
  const visitors = new AsyncLocalStorage<string>();
  const Theme = createContext('none');
  const seen: string[] = [];
  const render = async (visitor: string, ms: number): Promise<ScreenJson> => {
    const data = new Promise<string>((resolve) => {
      setTimeout(resolve, ms, visitor);
    });
    const Part = (): ReactElement => {
      const value = use(data);
      seen.push(`${visitor} ${visitors.getStore()} ${useContext(Theme)}`);
      return <Widget text={value} />;
    };
    return visitors.run(visitor, () =>
      renderScreen(
        <Theme.Provider value={visitor}>
          <Suspense fallback={null}>
            <Part />
          </Suspense>
        </Theme.Provider>,
        size,
      ),
    );
  };
  const names = ['ann', 'bob', 'cid', 'dot'];
  const screens = await Promise.all(names.map((name, at) => render(name, 12 - 3 * at)));
  assert.deepEqual(
    screens.map(({ widgets }) => textsOf(widgets)),
    names.map((name) => [name]),
  );
  assert.deepEqual(
    [...new Set(seen)].sort(),
    names.map((name) => `${name} ${name} ${name}`),
  );
});

test('errors reach the caller, or the boundary that catches them', async () => {
  const Broken = (): ReactElement => {
    throw new Error('no stock');
  };
  await assert.rejects(renderScreen(<Broken />, size), /no stock/);
  class Boundary extends Component<{ children: ReactNode }> {
    override state = { failed: false };

    static getDerivedStateFromError(): { failed: boolean } {
      return { failed: true };
    }

    override render(): ReactNode {
      return this.state.failed ? <Widget text="sorry" /> : this.props.children;
    }
  }
  const json = await renderScreen(
    <Boundary>
      <Broken />
    </Boundary>,
    size,
  );
  assert.deepEqual(textsOf(json.widgets), ['sorry']);
});

test('limits: widgets, bytes, and a client that has left', async () => {
  const many = Array.from({ length: 50 }, (_, key) => <Widget key={key} text={'x'.repeat(100)} />);
  await assert.rejects(renderScreen(many, { ...size, widgetsMax: 49 }), ScreenLimitError);
  await assert.rejects(renderScreen(many, { ...size, bytesMax: 4_000 }), ScreenLimitError);
  const never = new Promise<never>(() => undefined);
  const Late = (): ReactElement => use(never);
  const controller = new AbortController();
  const rendering = renderScreen(
    <Suspense fallback={null}>
      <Late />
    </Suspense>,
    { ...size, signal: controller.signal },
  );
  controller.abort(new Error('has left'));
  await assert.rejects(rendering, /has left/);
});

test('JSON has data alone: no functions, and hostile names are texts', async () => {
  const hostile = JSON.parse('{"__proto__":{"polluted":1},"width":10,"constructor":"x"}') as object;
  const json = await renderScreen(
    <Widget style={hostile} onKey={() => true} focusArea={{ direction: 'row' }}>
      <Widget text={'</script><!--\u2028__proto__'} ref={() => undefined} />
    </Widget>,
    size,
  );
  const text = JSON.stringify(json);
  assert.doesNotMatch(text, /onKey|focusArea|polluted|constructor/);
  assert.deepEqual(JSON.parse(text), json);
  assert.deepEqual(json.widgets[0]?.values, { width: 10 });
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});
