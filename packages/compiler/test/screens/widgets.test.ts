/** Styles that moved, and generated updates, show what the JSX as written shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.js';
import { PROPERTIES as FACTS } from '../../../screens/src/stream/codes.js';
import { PASSES } from '../../src/screens/index.js';
import { PROPERTIES } from '../../src/screens/properties.js';
import { PLACES, input, moduleOf, widget } from './support/widgets.js';
import { Root, type Tree, looks, own, spell } from './support/world.js';

void test('the compiler has the codes of the stream', () => {
  for (const [name, [code, isNumber]] of Object.entries(PROPERTIES)) {
    const facts = (FACTS as Readonly<Record<string, { code: number; type: string }>>)[name];
    assert.equal(code, facts?.code, name);
    assert.equal(isNumber, facts?.type === 'number' || facts?.type === 'length', name);
  }
  assert.equal(Object.keys(PROPERTIES).length, Object.keys(FACTS).length - 1);
});

const byCode = new Map(Object.entries(PROPERTIES).map(([name, [code]]) => [code, name]));

type Props = Readonly<Record<string, unknown>>;
interface Out {
  text(id: number, code: number, value: string): void;
  number(id: number, code: number, value: number): void;
  property(id: number, name: string, value: unknown): void;
}
interface Generated {
  readonly $u?: (node: { id: number }, before: Props, now: Props, out: Out) => void;
  readonly $m?: (node: { id: number }, now: Props, out: Out) => void;
}

/** A widget at a surface: what it was told, by generated functions where there are any, else by comparing. */
class Surface {
  readonly values: Record<string, unknown> = {};
  #before: (Props & Generated) | undefined;
  /** How often a generated function was called. */
  generated = 0;

  take(now: Props & Generated): void {
    const before = this.#before;
    this.#before = now;
    if (before === undefined && now.$m !== undefined) {
      this.generated++;
      return now.$m({ id: 1 }, now, this);
    }
    if (before !== undefined && now.$u !== undefined && now.$u === before.$u) {
      this.generated++;
      return now.$u({ id: 1 }, before, now, this);
    }
    const all = (props: Props | undefined): Props => ({
      ...spell(props?.['style']),
      text: props?.['text'],
      image: props?.['image'],
    });
    const [old, values] = [all(before), all(now)];
    for (const name of new Set([...Object.keys(old), ...Object.keys(values)])) {
      // Transitions are no values; `looks` compares them.
      if (name !== 'transition' && old[name] !== values[name]) this.property(1, name, values[name]);
    }
  }

  number(id: number, code: number, value: number): void {
    assert.equal(id, 1);
    assert.ok(Number.isFinite(value));
    this.values[byCode.get(code) as string] = value;
  }

  text(id: number, code: number, value: string): void {
    assert.equal(id, 1);
    assert.equal(typeof value, 'string');
    this.values[byCode.get(code) as string] = value;
  }

  property(id: number, name: string, value: unknown): void {
    assert.equal(id, 1);
    assert.ok(name in PROPERTIES, `${name} is no property`);
    // A wrong value is ignored.
    if (typeof value === 'number' && !Number.isFinite(value)) return;
    if (value === undefined || value === null) delete this.values[name];
    else this.values[name] = value;
  }
}

const compiled = new Map<string, string>();

void test(`widgets look as written after random updates (seed ${seed})`, async () => {
  let generated = 0;
  let moved = 0;
  const property = fc.asyncProperty(
    widget,
    widget,
    fc.constantFrom(...(Object.keys(PLACES) as (keyof typeof PLACES)[])),
    fc.constantFrom('', ...PASSES),
    fc.array(input, { minLength: 1, maxLength: 5 }),
    async (one, other, place, off, inputs) => {
      const source = moduleOf(one, other, place);
      const id = `${off} ${source}`;
      // The stock reconciler knows no blocks.
      const code =
        compiled.get(id) ?? (await own.compile(source, { passes: { blocks: false, [off]: false } }));
      compiled.set(id, code);
      const [plain, ours] = [source, code].map((text) => ({
        App: own.evaluate(text)['App'],
        root: new Root(),
        surfaces: new Map<number, Surface>(),
      })) as [World, World];
      for (const p of inputs) {
        const expected = plain.root.render(own.jsx(plain.App, { p }));
        const actual = ours.root.render(own.jsx(ours.App, { p }));
        assert.deepEqual(looks(actual), looks(expected));
        assert.deepEqual(told(ours), told(plain));
      }
      for (const surface of ours.surfaces.values()) generated += surface.generated;
      if (code.includes('_staticStyle')) moved++;
    },
  );
  await fc.assert(property, { numRuns: long ? 20_000 : 500, seed }).catch((error: unknown) => {
    console.error(`replay with SLUICE_SEED=${seed}`);
    throw error;
  });
  assert.ok(generated > 100 && moved > 20, `${generated} generated updates, ${moved} styles moved`);
});

interface World {
  readonly App: unknown;
  readonly root: Root;
  readonly surfaces: Map<number, Surface>;
}

/** Own and static values of each widget at the surface, in the order of the tree. */
function told({ root, surfaces }: World): unknown[] {
  const all: unknown[] = [];
  const visit = (one: { readonly text?: string; id?: number; props?: Props; children?: unknown[] }): void => {
    if (one.props === undefined || one.id === undefined) return;
    const surface = surfaces.get(one.id) ?? new Surface();
    surfaces.set(one.id, surface);
    surface.take(one.props);
    const { transition: _, ...spelled } = { ...spell(one.props['staticStyle']), ...surface.values };
    all.push(spelled);
    for (const child of one.children ?? []) visit(child as typeof one);
  };
  for (const child of root.container.children) visit(child);
  return all;
}

void test('two places that alternate are compared by the renderer', async () => {
  const source = moduleOf(
    '<Widget style={{ width: p.a, opacity: 1 }} />',
    '<Widget style={{ height: p.a }} text={p.b} />',
    'conditional',
  );
  const { App } = own.evaluate(await own.compile(source));
  const root = new Root();
  const render = (zero: boolean): Tree => root.render(own.jsx(App, { p: { a: 1, b: 'b', zero } }))[0] as Tree;
  const [first, second, again] = [render(true), render(false), render(true)];
  const updates = [first, second, again].map(({ props }) => (props as Generated).$u);
  assert.equal(
    updates.every((one) => typeof one === 'undefined'),
    true,
    'a generated update is no property of its own',
  );
  const protos = root.container.children.map((one) =>
    'props' in one ? (one.props as Generated).$u : undefined,
  );
  assert.equal(typeof protos[0], 'function');
});

void test('constant styles are shared and frozen, and the same at each render', async () => {
  const source = `
    import { Widget } from '@sluice/screens';
    export const App = ({ n }) => <Widget style={{ width: 4, height: n }}><Widget style={{ width: 4 }} text={n} /><Widget style={{ width: 4 }} /></Widget>;`;
  const { App } = own.evaluate(await own.compile(source));
  const root = new Root();
  const styles = [1, 2].flatMap((n) => {
    const [outer] = root.render(own.jsx(App, { n })) as [Tree];
    return [outer, ...(outer.children as Tree[])].map(({ props }) => props['staticStyle']);
  });
  assert.equal(new Set(styles).size, 1);
  assert.deepEqual(styles[0], { width: 4 });
  assert.ok(Object.isFrozen(styles[0]));
});
