/** @jsxRuntime automatic @jsxImportSource react */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
// Blocks: widgets that are part of another one, as @sluice/compiler writes them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as React from 'react';
import { pictureOf } from '../../src/adopt/json.ts';
import { showScreen } from '../../src/adopt/show.ts';
import { createRoot, Widget } from '../../src/index.ts';
import { block as siteOf } from '../../src/runtime.ts';
import { renderScreen } from '../../src/server/render.ts';
import { HeadlessSurface } from '../../src/surfaces/headless.ts';
import { BLOCK, type Block, type WidgetProps } from '../../src/widget/props.ts';
import { Board } from './support/board.ts';

type Values = WidgetProps & { readonly $0?: string; readonly $1?: string };
const TEXT = 60;
const shared = Object.freeze({ width: 10 });

/** A widget with a text, and another one in it. */
const block: Block = {
  mount(parent, now: Values, out) {
    const first = out.leaf(parent, shared, TEXT, now.$0);
    return [first, out.leaf(first, undefined, TEXT, now.$1)];
  },
  update(ids, before: Values, now: Values, out) {
    if (before.$0 !== now.$0) out.property(ids[0]!, 'text', now.$0);
    if (before.$1 !== now.$1) out.property(ids[1]!, 'text', now.$1);
  },
};
/** A widget alone. */
const other: Block = {
  mount: (parent, now: Values, out) => [out.leaf(parent, undefined, TEXT, now.$0)],
  update: () => {},
};
const sites = new Map([block, other].map((one) => [one, siteOf(undefined, undefined, BLOCK, one)]));

function element(of: Block, values: Values, key: string | null = null): React.ReactElement {
  const props = Object.assign(Object.create(sites.get(of)!) as object, values);
  return { ...(<Widget key={key} />), props } as React.ReactElement;
}

function begin(): { board: Board; show: (element: React.ReactNode) => string } {
  const board = new Board();
  const root = createRoot(board, {
    onUncaughtError: (error) => {
      throw error;
    },
  });
  return {
    board,
    show(next) {
      root.render(next);
      root.flush();
      return board.show();
    },
  };
}

void test('a block is created, updated and removed with its root', () => {
  const { board, show } = begin();
  assert.equal(show(element(block, { $0: 'a', $1: 'b' })), '((a(b())))');
  const { words } = board;
  assert.equal(show(element(block, { $0: 'a', $1: 'c' })), '((a(c())))');
  assert.equal(board.words - words, 3);
  assert.equal(show(null), '()');
  assert.equal(board.pieces.size, 1);
});

void test('a place whose blocks and plain children take turns shows what it was given last', () => {
  const { board, show } = begin();
  const plain = (
    <Widget>
      <Widget text="plain" />
    </Widget>
  );
  const forms = [
    [plain, '((plain()))'],
    [element(block, { $0: 'a', $1: 'b' }), '((a(b())))'],
    [element(other, { $0: 'o' }), '((o()))'],
    [<Widget />, '(())'],
  ] as const;
  for (const [first] of forms) {
    for (const [next, shown] of forms) {
      show(first);
      assert.equal(show(next), shown);
    }
  }
  show(null);
  assert.equal(board.pieces.size, 1);
});

void test('numbers of a block are used again, and never in the batch that frees them', () => {
  const { board, show } = begin();
  const row = (of: readonly number[]): React.ReactNode =>
    of.map((n) => element(n % 2 === 0 ? block : other, { $0: `a${n}`, $1: 'b' }, String(n)));
  for (let turn = 0; turn < 40; turn++)
    show(
      row([0, 1, 2, 3, 4, 5].map((n) => (n * 7 + turn * 5) % 13).filter((n, i, all) => all.indexOf(n) === i)),
    );
  // A screen has 18 widgets at most, and those of two batches are apart.
  assert.ok(Math.max(...board.pieces.keys()) <= 36, String(Math.max(...board.pieces.keys())));
  show(null);
  assert.equal(board.pieces.size, 1);
});

void test('a block is hidden with its root while what stands beside it waits', async () => {
  const { show } = begin();
  let arrive = (): void => {};
  const data = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const Waits = ({ wait }: { wait: boolean }): null => {
    if (wait) React.use(data);
    return null;
  };
  const App = ({ wait, text }: { wait: boolean; text: string }): React.ReactNode => (
    <React.Suspense fallback={<Widget text="wait" />}>
      {element(block, { $0: text, $1: 'b' })}
      <Waits wait={wait} />
    </React.Suspense>
  );
  show(<App wait={false} text="a" />);
  assert.equal(show(<App wait text="b" />), '(!(a(b())) wait())');
  arrive();
  await data;
  assert.equal(show(<App wait={false} text="c" />), '((c(b())))');
});

void test('the widgets of a block are taken over from a screen of the server', async () => {
  const size = { width: 1280, height: 720 };
  const app = (text: string): React.ReactNode => (
    <Widget style={{ width: 100 }}>
      <Widget text="before" />
      {element(block, { $0: text, $1: 'b' })}
    </Widget>
  );
  const json = await renderScreen(app('a') as never, size);
  assert.equal(pictureOf(json).parts.size, 5);
  const surface = new HeadlessSurface(size);
  const shown = showScreen(surface, json);
  const { commands } = surface;
  const root = createRoot(surface, { adopt: shown });
  root.render(app('a'));
  root.flush();
  assert.equal(surface.commands, commands);
  root.render(app('z'));
  root.flush();
  assert.match(surface.tree(), /z/);
  root.render(null);
  root.flush();
  assert.equal(surface.widgets, 0);
  root.render(app('again'));
  root.flush();
  assert.match(surface.tree(), /again/);
});
