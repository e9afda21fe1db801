/** Compiled components on this package's own reconciler: the surface shows what it shows of components that nobody compiled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../tests/support/chance.ts';
import {
  type Renderer,
  SHAPES,
  entries,
  history,
  propsOf,
  wrapper,
} from '../../compiler/test/screens/support/stacks.ts';
import { PLACES, input, moduleOf, widget } from '../../compiler/test/screens/support/widgets.ts';
import { own } from '../../compiler/test/screens/support/world.ts';
import { createRoot } from '../src/root.ts';
import { Board, type Piece } from './tree/support/board.ts';

const replay = (error: unknown): never => {
  console.error(`replay with SLUICE_SEED=${seed}`);
  throw error;
};

/** An own transition of no duration is what is left of one that was taken away. */
const isNone = ([name, value]: readonly [string, unknown]): boolean =>
  name.startsWith('transition ') && value === '0 0 0';

/** Values in force of a widget and of all below it. */
function shown(board: Board, piece: Piece = board.root): unknown {
  return [
    Object.fromEntries(
      [...(board.styles.get(piece.style) ?? []), ...piece.values]
        .filter((one) => !isNone(one))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    Object.fromEntries(board.styles.get(piece.focusStyle) ?? []),
    piece.children.map((child) => shown(board, child)),
  ];
}

class Screen implements Renderer {
  readonly board = new Board();
  #error: unknown;
  readonly #root = createRoot(this.board, {
    onUncaughtError: (error) => {
      this.#error = error;
    },
  });

  render(element: unknown): unknown {
    return this.act(() => this.#root.render(element as never));
  }

  act(work: () => void): unknown {
    this.#error = undefined;
    work();
    this.#root.flush();
    // oxlint-disable-next-line typescript/only-throw-error -- What a component threw.
    if (this.#error !== undefined) throw this.#error;
    return shown(this.board);
  }
}

void test(`compiled stacks of wrappers pass on the same props (seed ${seed})`, async () => {
  const property = fc.asyncProperty(
    fc.array(wrapper, { minLength: 1, maxLength: 7, size: 'max' }),
    fc.array(fc.tuple(fc.constantFrom(...SHAPES), entries), { minLength: 1, maxLength: 3 }),
    async (stack, tops) => {
      const inputs = tops.map(([shape, all]) => propsOf(shape, all));
      assert.deepEqual(
        await history(own, stack, inputs, true, '', new Screen()),
        await history(own, stack, inputs, false, '', new Screen()),
      );
    },
  );
  await fc.assert(property, { numRuns: long ? 10_000 : 200, seed }).catch(replay);
});

/** Whether both ways to build a module show the same after each of the inputs. */
async function assertSame(source: string, inputs: readonly object[]): Promise<void> {
  const start = (code: string): { App: unknown; screen: Screen } => ({
    App: own.evaluate(code)['App'],
    screen: new Screen(),
  });
  const [plain, compiled] = [start(source), start(await own.compile(source))];
  for (const p of inputs) {
    const expected = plain.screen.render(own.jsx(plain.App, { p }));
    assert.deepEqual(compiled.screen.render(own.jsx(compiled.App, { p })), expected);
  }
}

type Place = keyof typeof PLACES;

void test(`compiled widgets show the same values after random updates (seed ${seed})`, async () => {
  // A wrong value leaves the value before it in force, which another place may have as a static one.
  const places = (Object.keys(PLACES) as Place[]).filter((place) => place !== 'conditional');
  const property = fc.asyncProperty(
    widget,
    widget,
    fc.constantFrom(...places),
    fc.array(input, { minLength: 1, maxLength: 5 }),
    (one, other, place, inputs) => assertSame(moduleOf(one, other, place), inputs),
  );
  await fc.assert(property, { numRuns: long ? 10_000 : 300, seed }).catch(replay);
});

const ALTERNATING = [
  '',
  'style={{ width: 4, height: p.a }}',
  'style={{ width: p.a }}',
  'style={{ width: 4 }} text="t"',
  "style={{ background: '#fff', padding: 3 }}",
  'style={{ padding: 2, paddingLeft: p.a }}',
  'style={{ paddingHorizontal: p.a }} text={String(p.a)}',
  'style={{ transition: { x: 100 }, x: p.a }}',
  'staticStyle={{ width: 1, opacity: 0.5 }} style={{ width: 7, height: p.a }}',
  'focusStyle={{ opacity: 1 }} animate={{ x: { to: 9, duration: 5 } }}',
].map((attributes) => `<Widget ${attributes} />`);

void test(`compiled widgets that take turns show the same values (seed ${seed})`, async () => {
  const turn = fc.record({ a: fc.constantFrom(1, 2, 0, undefined), zero: fc.boolean() });
  const property = fc.asyncProperty(
    fc.constantFrom(...ALTERNATING),
    fc.constantFrom(...ALTERNATING),
    fc.array(turn, { minLength: 2, maxLength: 6 }),
    (one, other, inputs) => assertSame(moduleOf(one, other, 'conditional'), inputs),
  );
  await fc.assert(property, { numRuns: long ? 5_000 : 200, seed }).catch(replay);
});

void test('an update of a compiled widget sends what has changed, and nothing else', async () => {
  const { App } = own.evaluate(
    await own.compile(`import { Widget } from '@sluice/screens';
      export const App = ({ w, c }) => <Widget style={{ width: w, background: c, height: 4, opacity: 0.5 }} text="t" />;`),
  );
  const screen = new Screen();
  screen.render(own.jsx(App, { w: 1, c: '#000' }));
  const before = screen.board.words;
  screen.render(own.jsx(App, { w: 2, c: '#000' }));
  assert.equal(screen.board.words - before, 3);
  screen.render(own.jsx(App, { c: '#000' }));
  assert.equal(screen.board.words - before, 5);
  assert.equal(screen.board.root.children[0]?.values.get('width'), undefined);
});
