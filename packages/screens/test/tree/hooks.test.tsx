/** @jsxRuntime automatic @jsxImportSource react */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
// Hooks and boundaries that random histories do not come to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as React from 'react';
import { createRoot, Widget } from '../../src/index.ts';
import { Board } from './support/board.ts';

function mount(element: React.ReactNode): {
  board: Board;
  flush: () => string;
  show: (element: React.ReactNode) => string;
} {
  const board = new Board();
  const root = createRoot(board);
  const flush = (): string => {
    root.flush();
    return board.show();
  };
  const show = (next: React.ReactNode): string => {
    root.render(next);
    return flush();
  };
  show(element);
  return { board, flush, show };
}

interface Later<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

function later<T>(): Later<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

void test('use waits for a promise behind the fallback, and shows its value', async () => {
  const { promise, resolve } = later<string>();
  const App = (): React.ReactNode => <Widget text={React.use(promise)} />;
  const { board, flush } = mount(
    <React.Suspense fallback={<Widget text="wait" />}>
      <App />
    </React.Suspense>,
  );
  assert.equal(board.show(), '(wait())');
  resolve('here');
  await settled();
  assert.equal(flush(), '(here())');
});

void test('a promise that fails goes to the boundary for errors', async () => {
  const { promise, reject } = later<string>();
  class Boundary extends React.Component<{ children: React.ReactNode }, { message: string }> {
    override state = { message: '' };
    static getDerivedStateFromError(error: Error): { message: string } {
      return { message: error.message };
    }
    override render(): React.ReactNode {
      return this.state.message === '' ? this.props.children : <Widget text={this.state.message} />;
    }
  }
  const App = (): React.ReactNode => <Widget text={React.use(promise)} />;
  const caught: unknown[] = [];
  const board = new Board();
  const root = createRoot(board, { onCaughtError: (error) => caught.push(error) });
  root.render(
    <Boundary>
      <React.Suspense fallback={<Widget text="wait" />}>
        <App />
      </React.Suspense>
    </Boundary>,
  );
  root.flush();
  reject(new Error('gone'));
  await settled();
  root.flush();
  assert.equal(board.show(), '(gone())');
  assert.equal(caught.length, 1);
});

void test('a transition keeps the screen while the next one waits', async () => {
  const { promise, resolve } = later<string>();
  let go: () => void = () => {};
  const Next = (): React.ReactNode => <Widget text={React.use(promise)} />;
  function App(): React.ReactNode {
    const [next, set] = React.useState(false);
    const [pending, start] = React.useTransition();
    go = () => start(() => set(true));
    return <Widget text={pending ? 'pending' : ''}>{next ? <Next /> : <Widget text="old" />}</Widget>;
  }
  const { flush } = mount(
    <React.Suspense fallback={<Widget text="wait" />}>
      <App />
    </React.Suspense>,
  );
  go();
  assert.equal(flush(), '(pending(old()))');
  resolve('new');
  await settled();
  assert.equal(flush(), '((new()))');
});

void test('an asynchronous action is pending until its promise is settled, and its updates show then', async () => {
  const { promise, resolve } = later<void>();
  let go: () => void = () => {};
  function App(): React.ReactNode {
    const [value, set] = React.useState('old');
    const [pending, start] = React.useTransition();
    go = () =>
      start(async () => {
        await promise;
        React.startTransition(() => set('new'));
      });
    return <Widget text={`${value} ${pending}`} />;
  }
  const { flush } = mount(<App />);
  go();
  assert.equal(flush(), '(old true())');
  resolve();
  await settled();
  assert.equal(flush(), '(new false())');
});

void test('an optimistic value shows at once, and gives way to the real one', async () => {
  const { promise, resolve } = later<void>();
  let send: (value: string) => void = () => {};
  function App(): React.ReactNode {
    const [value, set] = React.useState('a');
    const [shown, add] = React.useOptimistic(value, (before: string, more: string) => before + more);
    send = (more) =>
      React.startTransition(async () => {
        add(more);
        await promise;
        React.startTransition(() => set(`saved ${more}`));
      });
    return <Widget text={shown} />;
  }
  const { flush } = mount(<App />);
  send('b');
  assert.equal(flush(), '(ab())');
  resolve();
  await settled();
  assert.equal(flush(), '(saved b())');
});

void test('useActionState runs actions one after another', async () => {
  let act: (value: number) => void = () => {};
  function App(): React.ReactNode {
    const [sum, add, pending] = React.useActionState(
      async (before: number, more: number) => before + more,
      0,
    );
    act = add;
    return <Widget text={`${sum} ${pending}`} />;
  }
  const { flush } = mount(<App />);
  React.startTransition(() => {
    act(1);
    act(2);
  });
  assert.equal(flush(), '(0 true())');
  await settled();
  assert.equal(flush(), '(3 false())');
});

void test('useEffectEvent sees the last props, and is no dependency', () => {
  const seen: number[] = [];
  let fire: () => void = () => {};
  function App({ value }: { value: number }): React.ReactNode {
    const event = React.useEffectEvent(() => {
      seen.push(value);
    });
    React.useEffect(() => {
      fire = () => event();
    }, []);
    return null;
  }
  const { show } = mount(<App value={1} />);
  fire();
  show(<App value={2} />);
  fire();
  assert.deepEqual(seen, [1, 2]);
});

void test('the cache of the React Compiler stays from render to render', async () => {
  const { c } = (await import('react/compiler-runtime')) as unknown as { c: (size: number) => unknown[] };
  const seen: boolean[] = [];
  function App({ value }: { value: number }): React.ReactNode {
    const cache = c(2);
    seen.push(cache[0] === value);
    if (cache[0] !== value) {
      cache[0] = value;
      cache[1] = <Widget text={String(value)} />;
    }
    return cache[1] as React.ReactNode;
  }
  const { show } = mount(<App value={1} />);
  show(<App value={1} />);
  assert.equal(show(<App value={2} />), '(2())');
  assert.deepEqual(seen, [false, true, false]);
});

void test('useId gives ids that differ and stay', () => {
  const ids: string[][] = [];
  function App({ value }: { value: number }): React.ReactNode {
    const list = [React.useId(), React.useId(), String(value)];
    ids.push(list);
    return null;
  }
  const { show } = mount(<App value={1} />);
  show(<App value={2} />);
  assert.notEqual(ids[0]![0], ids[0]![1]);
  assert.deepEqual(ids[1]!.slice(0, 2), ids[0]!.slice(0, 2));
});

void test('hidden children keep their state and passive effects, and lose layout effects', async () => {
  const log: string[] = [];
  const { promise, resolve } = later<string>();
  let wait: (value: boolean) => void = () => {};
  function Child(): React.ReactNode {
    const [id] = React.useState(() => log.push('state'));
    React.useLayoutEffect(() => {
      log.push('layout');
      return () => void log.push('layout cleanup');
    }, []);
    React.useEffect(() => {
      log.push('passive');
      return () => void log.push('passive cleanup');
    }, []);
    return <Widget text={`child ${id}`} style={{ display: 'flex' }} />;
  }
  function App(): React.ReactNode {
    const [waits, set] = React.useState(false);
    wait = set;
    return (
      <>
        <Child />
        {waits ? <Widget text={React.use(promise)} /> : null}
      </>
    );
  }
  const { flush } = mount(
    <React.Suspense fallback={<Widget text="wait" />}>
      <App />
    </React.Suspense>,
  );
  log.length = 0;
  wait(true);
  assert.equal(flush(), '(child 1!() wait())');
  assert.deepEqual(log, ['layout cleanup']);
  resolve('here');
  await settled();
  assert.equal(flush(), '(child 1() here())');
  assert.deepEqual(log, ['layout cleanup', 'layout']);
});

void test('an error that nothing catches empties the root and is reported', () => {
  const errors: unknown[] = [];
  const log: string[] = [];
  let fail: (value: boolean) => void = () => {};
  function App(): React.ReactNode {
    const [fails, set] = React.useState(false);
    fail = set;
    React.useEffect(() => () => void log.push('cleanup'), []);
    if (fails) throw new Error('render');
    return <Widget text="on" />;
  }
  const board = new Board();
  const root = createRoot(board, { onUncaughtError: (error) => errors.push(error) });
  root.render(<App />);
  root.flush();
  fail(true);
  root.flush();
  assert.equal(board.show(), '()');
  assert.deepEqual(log, ['cleanup']);
  assert.match(String(errors[0]), /render/);
  root.render(<Widget text="again" />);
  root.flush();
  assert.equal(board.show(), '(again())');
});

void test('updates that never end are an error of their root, and other roots go on', () => {
  const Endless = (): React.ReactNode => {
    const [n, set] = React.useState(0);
    React.useLayoutEffect(() => set(n + 1));
    return <Widget text={String(n)} />;
  };
  const board = new Board();
  const errors: unknown[] = [];
  const root = createRoot(board, { onUncaughtError: (error) => errors.push(error) });
  root.render(<Endless />);
  root.flush();
  assert.equal(errors.length, 1);
  assert.match((errors[0] as Error).message, /^Maximum update depth exceeded/);
  assert.equal(board.show(), '()');
  assert.equal(mount(<Widget text="other" />).board.show(), '(other())');
});

void test('a boundary that shows again what fails in a commit leaves the error to its root in the end', () => {
  let mounts = 0;
  class Failing extends React.Component {
    override componentDidMount(): void {
      mounts++;
      throw new Error('didMount');
    }

    override render(): React.ReactNode {
      return <Widget text="failing" />;
    }
  }
  class Boundary extends React.Component<object, { n: number }> {
    static getDerivedStateFromError = (): object => ({ n: ++tries });
    override state = { n: 0 };
    override render(): React.ReactNode {
      return <Failing key={this.state.n} />;
    }
  }
  let tries = 0;
  const board = new Board();
  const errors: unknown[] = [];
  const root = createRoot(board, {
    onUncaughtError: (error) => errors.push(error),
    onCaughtError: () => {},
  });
  root.render(<Boundary />);
  root.flush();
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['didMount'],
  );
  assert.ok(mounts > 40 && mounts < 60, `${mounts} mounts`);
  assert.equal(board.show(), '()');
});
