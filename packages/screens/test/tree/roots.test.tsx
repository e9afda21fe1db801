/** @jsxRuntime automatic @jsxImportSource react */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
// Several roots in one process: what one does leaves the others as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as React from 'react';
import { createRoot, Widget, type ScreenRoot } from '../../src/index.ts';
import { Board } from './support/board.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;
const never = new Promise<never>(() => undefined);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Shown {
  readonly board: Board;
  readonly root: ScreenRoot;
  readonly errors: unknown[];
}

function show(element: React.ReactNode): Shown {
  const board = new Board();
  const errors: unknown[] = [];
  const root = createRoot(board, { onUncaughtError: (error) => errors.push(error) });
  root.render(element);
  root.flush();
  return { board, root, errors };
}

function Logged({ name, log }: { name: string; log: string[] }): React.ReactNode {
  React.useLayoutEffect(() => {
    log.push(`layout ${name}`);
  }, [name, log]);
  React.useEffect(() => {
    log.push(`effect ${name}`);
  }, [name, log]);
  return <Widget ref={(handle) => void (handle !== null && log.push(`ref ${name}`))} />;
}

void test('unmount and flush in a layout effect wait for the end of the commit', () => {
  for (const act of [
    (root: ScreenRoot): void => root.unmount(),
    (root: ScreenRoot): void => {
      root.render(null);
      root.flush();
    },
  ]) {
    const other = show(<Widget text="b" />);
    const log: string[] = [];
    const Ends = (): React.ReactNode => {
      React.useLayoutEffect(() => {
        act(other.root);
        log.push(other.board.show());
      }, []);
      return null;
    };
    const { errors } = show([
      <Logged key="1" name="1" log={log} />,
      <Ends key="2" />,
      <Logged key="3" name="3" log={log} />,
    ]);
    assert.deepEqual(log, ['ref 1', 'layout 1', '(b())', 'ref 3', 'layout 3', 'effect 1', 'effect 3']);
    assert.equal(other.board.show(), '()');
    assert.deepEqual(errors, []);
  }
});

void test('unmount in a passive effect or a render of another root is no error', () => {
  const Ends = ({ root, when }: { root: ScreenRoot; when: string }): React.ReactNode => {
    if (when === 'render') root.unmount();
    React.useEffect(() => {
      if (when === 'effect') root.unmount();
    }, [root, when]);
    return <Widget text="a" />;
  };
  for (const when of ['effect', 'render'])
    for (const isTransition of [false, true]) {
      const other = show(<Widget text="b" />);
      const { board, root, errors } = show(null);
      const render = (): void => root.render(<Ends root={other.root} when={when} />);
      if (isTransition) React.startTransition(render);
      else render();
      root.flush();
      assert.equal(board.show(), '(a())');
      assert.equal(other.board.show(), '()');
      assert.deepEqual(errors, []);
    }
});

void test('a server screen is unmounted after the commit that does it, and refuses to be flushed within', () => {
  const board = new Board();
  const still = createRoot(board, { effects: 'none' });
  still.render(<Widget text="b" />);
  still.flush();
  let thrown: unknown;
  const Ends = (): React.ReactNode => {
    React.useLayoutEffect(() => {
      assert.throws(() => still.flush(), /cannot be flushed/);
      still.unmount();
      thrown = board.show();
    }, []);
    return null;
  };
  show(<Ends />);
  assert.equal(thrown, '(b())');
  assert.equal(board.show(), '()');
});

void test('what waited behind a fallback is shown by the clock of its own surface', async () => {
  const ahead = new Board();
  ahead.time = 1e6;
  const far = createRoot(ahead);
  let resolve: ((value: string) => void) | undefined;
  const text = new Promise<string>((done) => {
    resolve = done;
  });
  const Waits = ({ on }: { on: Promise<string> }): React.ReactNode => <Widget text={React.use(on)} />;
  const { board } = show(
    <React.Suspense fallback={<Widget text="wait" />}>
      <Waits on={text} />
    </React.Suspense>,
  );
  // Longer ago than a fallback is left.
  board.time = 1000;
  far.render(
    <React.Suspense fallback={<Widget text="wait" />}>
      <Waits on={never} />
    </React.Suspense>,
  );
  far.flush();
  resolve!('here');
  for (let i = 0; i < 20 && board.show() !== '(here())'; i++)
    await new Promise((done) => setTimeout(done, 0));
  assert.equal(board.show(), '(here())');
});

void test('a render that fails leaves no context of its own to the next root', () => {
  const Whose = React.createContext('nobody');
  const Fails = (): React.ReactNode => {
    throw new Error(`of ${React.use(Whose)}`);
  };
  const Reads = (): React.ReactNode => <Widget text={React.use(Whose)} />;
  const { errors } = show(
    <Whose value="one">
      <Fails />
    </Whose>,
  );
  assert.deepEqual(errors.map(String), ['Error: of one']);
  assert.equal(show(<Reads />).board.show(), '(nobody())');
});

void test('ids of a root do not depend on others', () => {
  const Id = (): React.ReactNode => <Widget text={React.useId()} />;
  const one = show([<Id key="1" />, <Id key="2" />]).board.show();
  assert.equal(show([<Id key="1" />, <Id key="2" />]).board.show(), one);
});

void test('updates without end are an error of their root alone', () => {
  const { root: bystander } = show(<Widget text="b" />);
  const rendered: string[] = [];
  const Endless = (): React.ReactNode => {
    const [count, setCount] = React.useState(0);
    React.useLayoutEffect(() => {
      // Each turn of the loop gives the other root an update, too.
      bystander.render(<Widget text={`b${count}`} />);
      rendered.push(`b${count}`);
      setCount(count + 1);
    });
    return <Widget text="a" />;
  };
  const { board, errors } = show(<Endless />);
  assert.equal(errors.length, 1);
  assert.match(String(errors[0]), /Maximum update depth/);
  assert.equal(board.show(), '()');
});

void test('a promise that is never settled, and a setState that was kept, hold no tree of a root that is gone', async () => {
  const kept: React.Dispatch<React.SetStateAction<number>>[] = [];
  const Waits = ({ big }: { big: { of: string } }): React.ReactNode => (
    <Widget text={React.use(never)} image={big.of} />
  );
  const Keeps = ({ big }: { big: { of: string } }): React.ReactNode => {
    const [count, setCount] = React.useState(0);
    React.useEffect(() => void kept.push(setCount), []);
    return <Widget text={`${big.of} ${count}`} />;
  };
  const once = (): WeakRef<object>[] => {
    const bigs = [{ of: 'boundary' }, { of: 'root' }, { of: 'sibling' }];
    const { root } = show([
      <React.Suspense key="1" fallback={null}>
        <Waits big={bigs[0]!} />
      </React.Suspense>,
      <Keeps key="2" big={bigs[2]!} />,
    ]);
    React.startTransition(() => root.render(<Waits big={bigs[1]!} />));
    root.flush();
    root.unmount();
    return bigs.map((big) => new WeakRef(big));
  };
  const refs = once();
  // The last component that was rendered is known until the next one is.
  const Other = (): React.ReactNode => <Widget text={React.useId()} />;
  show(<Other />);
  await turn();
  gc();
  assert.deepEqual(
    refs.map((ref) => ref.deref()),
    [undefined, undefined, undefined],
  );
  assert.equal(kept.length, 1);
  kept[0]!(1);
});

void test('updates of a component that is gone are not kept', () => {
  let later: React.Dispatch<unknown> | undefined;
  const Keeps = (): React.ReactNode => {
    const [, set] = React.useState<unknown>(null);
    later = set;
    return null;
  };
  const { root } = show(<Keeps />);
  root.unmount();
  const ref = ((): WeakRef<object> => {
    const big = {};
    later!(big);
    return new WeakRef(big);
  })();
  return turn().then(() => {
    gc();
    assert.equal(ref.deref(), undefined);
    assert.ok(later !== undefined);
  });
});

void test('a root that is unmounted holds nothing of its tree', async () => {
  const refs: WeakRef<object>[] = [];
  class Held extends React.Component {
    override render(): React.ReactNode {
      refs.push(new WeakRef(this));
      return <Inner />;
    }
  }
  function Inner(): React.ReactNode {
    const [held] = React.useState(() => ({ some: 'data' }));
    refs.push(new WeakRef(held));
    return <Widget text={held.some} />;
  }
  const root = createRoot(new Board());
  root.render(<Held />);
  root.flush();
  root.unmount();
  await turn();
  gc();
  assert.deepEqual(
    refs.map((ref) => ref.deref()),
    [undefined, undefined],
  );
});
