/** Blocks show what the widgets as written show, on the renderer of @sluice/screens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../tests/support/chance.ts';
import { createRoot, type ScreenRoot } from '../src/index.ts';
import { Board, type Piece } from './tree/support/board.ts';
import type { Line } from '../../compiler/src/screens/index.ts';
import { input } from '../../compiler/test/screens/support/widgets.ts';
import { own } from '../../compiler/test/screens/support/world.ts';

type App = (props: { p: unknown }) => unknown;

async function appOf(source: string, blocks: boolean): Promise<{ app: App; lines: readonly Line[] }> {
  const lines: Line[] = [];
  const code = await own.compile(source, {
    passes: { blocks },
    report: (report) => lines.push(...report.lines.filter(({ pass }) => pass === 'blocks')),
  });
  const { App: app } = own.evaluate(code) as { App: App };
  return { app, lines };
}

class Screen {
  readonly board = new Board();
  readonly #root: ScreenRoot = createRoot(this.board, {
    onUncaughtError: (error) => {
      throw error;
    },
  });
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  render(p: unknown): unknown {
    this.#root.render(own.jsx(this.#app, { p }) as never);
    this.#root.flush();
    return this.#look(this.board.root);
  }

  end(): void {
    this.#root.unmount();
    this.#root.flush();
    assert.equal(this.board.pieces.size, 1);
  }

  #look({ style, values, children }: Piece): unknown {
    const shared = this.board.styles.get(style) ?? new Map<string, number | string>();
    // A widget that is used again was told that it need not report.
    const all = [...shared, ...values].filter(
      ([name, value]) => !name.startsWith('transition') && !(name === 'reports' && value === 0),
    );
    return {
      values: Object.fromEntries(
        Object.entries(Object.fromEntries(all)).sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      children: children.map((child) => this.#look(child)),
    };
  }
}

const entry = fc
  .tuple(
    fc.constantFrom('width', 'opacity', 'background', 'paddingLeft', 'padding', 'rowGap', 'clip', 'fit'),
    fc.constantFrom('4', '0', "'50%'", "'#fff'", 'true', 'undefined', 'null', 'p.a', 'p.b', 'p.zero ? 1 : 2'),
  )
  .map(([name, value]) => `${name}: ${value}`);
const attribute = fc.oneof(
  { weight: 4, arbitrary: fc.array(entry, { maxLength: 4 }).map((all) => `style={{ ${all.join(', ')} }}`) },
  { weight: 4, arbitrary: fc.constantFrom('text={p.b}', 'text="a text"', 'image={p.c}', 'image="i.png"') },
  { weight: 1, arbitrary: fc.constantFrom('staticStyle={{ height: 9 }}', 'staticStyle={p.fixed}') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{...p.spread}',
      'key="k"',
      'onLayout={() => {}}',
      'style={{ transition: { x: 3 } }}',
    ),
  },
);
const attributes = (max: number): fc.Arbitrary<string> =>
  fc
    .uniqueArray(attribute, { maxLength: max, selector: (one) => one.split('=')[0] })
    .map((all) => all.join(' '));
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc
    .tuple(
      attributes(3),
      fc.array(
        fc.oneof(
          { maxDepth: 3, depthIdentifier: 'd' },
          {
            weight: 1,
            arbitrary: fc.constantFrom(
              '',
              '{/* nothing */}',
              '<Card p={p} />',
              '{p.zero && <Widget text="z" />}',
            ),
          },
          { weight: 6, arbitrary: tie('tree') },
        ),
        { maxLength: 3, depthIdentifier: 'd' },
      ),
    )
    .map(([own, children]) =>
      children.length === 0 ? `<Widget ${own} />` : `<Widget ${own}>${children.join('')}</Widget>`,
    ),
}));
const PLACES = {
  root: (one: string, _other: string) => one,
  turns: (one: string, other: string) => `p.zero ? ${one} : ${other}`,
  several: (one: string, other: string) => `<>{p.zero && ${one}}${other}</>`,
  list: (one: string, other: string) =>
    `<>{p.zero && ${other}}{[3, 1, 2].filter((n) => p.zero || n !== 1).map((n) => <Widget key={n} text={String(n)}>${one}</Widget>)}</>`,
} as const;

void test('blocks show what the widgets as written show', async () => {
  const property = fc.asyncProperty(
    tree,
    tree,
    fc.constantFrom(...(Object.keys(PLACES) as (keyof typeof PLACES)[])),
    fc.array(input, { minLength: 2, maxLength: 5 }),
    async (one, other, place, inputs) => {
      const source = `
        import { memo } from 'react';
        import { Widget } from '@sluice/screens';
        const Card = memo(({ p }) => <Widget text="card"><Widget text={p.b} style={{ width: p.a }} /><Widget image="card.png" /></Widget>);
        export const App = ({ p }) => ${PLACES[place](one, other)};`;
      const written = new Screen((await appOf(source, false)).app);
      const compiled = new Screen((await appOf(source, true)).app);
      for (const p of inputs) assert.deepEqual(compiled.render(p), written.render(p), source);
      compiled.end();
    },
  );
  const silent = console.error;
  console.error = () => undefined;
  try {
    await fc.assert(property, { numRuns: long ? 5_000 : 100, seed });
  } finally {
    console.error = silent;
  }
});

const blocksOf = async (jsx: string): Promise<string[]> => {
  const source = `import { Children } from 'react'; import { Widget } from '@sluice/screens'; export const App = ({ p, list }) => ${jsx};`;
  return (await appOf(source, true)).lines.map(({ done, reason }) => (done ? 'done' : reason));
};

void test('the report says which widgets become one, and why others do not', async () => {
  assert.deepEqual(
    await blocksOf('<Widget><Widget text={p.a} /><Widget><Widget image="i" /></Widget></Widget>'),
    ['done'],
  );
  assert.deepEqual(await blocksOf('<Widget ref={p}><Widget text={p.a} /></Widget>'), ['done']);
  assert.deepEqual(await blocksOf('<Widget><Widget onKey={p.a} /></Widget>'), ['one below has onKey']);
  assert.deepEqual(await blocksOf('<Widget><Widget key="k" /></Widget>'), ['one below has key']);
  assert.deepEqual(await blocksOf('<Widget><Widget {...p} /></Widget>'), ['a descendant has a spread']);
  assert.deepEqual(await blocksOf('<Widget {...p}><Widget /></Widget>'), ['the spread may contain children']);
  assert.deepEqual(await blocksOf('<Widget><Widget style={{ transition: p.a }} /></Widget>'), [
    'in one below, style has a transition',
  ]);
  assert.deepEqual(await blocksOf('<Widget>{p.a}<Widget /></Widget>'), [
    'the children are not written as elements alone',
  ]);
  assert.deepEqual(
    await blocksOf('<Widget>{list.map((one) => <Widget key={one}><Widget text={one} /></Widget>)}</Widget>'),
    ['the children are not written as elements alone', 'done'],
  );
  assert.deepEqual(
    await blocksOf('<Widget>{Children.map(list, (one) => <Widget><Widget text={one} /></Widget>)}</Widget>'),
    ['the children are not written as elements alone', 'other code sees the element'],
  );
});
