/** Styles that moved, and generated updates, show what the JSX as written shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.js';
import { PROPERTIES as FACTS } from '../../../screens/src/stream/codes.js';
import { PASSES } from '../../src/screens/index.js';
import { PROPERTIES } from '../../src/screens/properties.js';
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

  property(id: number, name: string, value: unknown): void {
    assert.equal(id, 1);
    assert.ok(name in PROPERTIES, `${name} is no property`);
    // A wrong value is ignored.
    if (typeof value === 'number' && !Number.isFinite(value)) return;
    if (value === undefined || value === null) delete this.values[name];
    else this.values[name] = value;
  }
}

const NAMES = [
  'width',
  'opacity',
  'background',
  'padding',
  'paddingLeft',
  'paddingHorizontal',
  'gap',
  'rowGap',
  'margin',
  'display',
  'clip',
  'zIndex',
];
const constant = fc.constantFrom('4', '0', "'50%'", "'#fff'", 'true', '-1', 'SIZE', 'undefined');
const dynamic = fc.constantFrom('p.a', 'p.b', 'p.c', 'p.a + 1', 'p.list[0]', 'p.zero ? 1 : p.b');
const entry = fc
  .tuple(fc.constantFrom(...NAMES), fc.oneof(constant, dynamic))
  .map(([name, value]) => `${name}: ${value}`);
const style = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: entry },
      fc.constantFrom(
        '...p.more',
        "['width']: p.a",
        "'height': 3",
        'transition: { x: 100 }',
        'transition: p.t',
      ),
    ),
    { maxLength: 6 },
  )
  .map((all) => `style={{ ${all.join(', ')} }}`);
const attribute = fc.oneof(
  { weight: 6, arbitrary: style },
  fc.constantFrom(
    'text={p.b}',
    'text="constant"',
    'image={p.c}',
    'staticStyle={{ width: 9, paddingLeft: 2 }}',
    'staticStyle={p.fixed}',
    'focusStyle={{ opacity: 1 }}',
    '{...p.spread}',
    'key={p.a}',
    'key="k"',
    'style={p.fixed}',
    'animate={{ x: { to: 1, duration: 5 } }}',
  ),
);
const widget = fc
  .uniqueArray(attribute, { maxLength: 4, selector: (one) => one.split('=')[0] })
  .map((all) => `<Widget ${all.join(' ')} />`);
const PLACES = {
  root: (one: string) => one,
  child: (one: string) => `<Widget text="around">${one}</Widget>`,
  conditional: (one: string, other: string) => `p.zero ? ${one} : ${other}`,
  seen: (one: string) => `<Box>${one}</Box>`,
  cloned: (one: string) => `<Cloned p={p}>${one}</Cloned>`,
  list: (one: string, other: string) =>
    `<>{[1, 2].map((n) => <Widget key={n} style={{ width: n }} />)}${one}{${other}}</>`,
} as const;

const module = (one: string, other: string, place: keyof typeof PLACES): string => `
import { cloneElement } from 'react';
import { Widget } from '@sluice/screens';
const SIZE = 12;
const Box = ({ children }) => <Widget>{children}</Widget>;
const Cloned = ({ p, children }) => <Widget>{cloneElement(children, p.clone)}<Widget text={JSON.stringify([Object.keys(children.props), children.props.style])} /></Widget>;
export const App = ({ p }) => ${PLACES[place](one, other)};
`;

const value = fc.constantFrom<unknown>(
  1,
  2,
  0,
  -0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '5%',
  '#123',
  true,
  undefined,
  null,
);
const input = fc.record({
  a: value,
  b: value,
  c: value,
  zero: fc.boolean(),
  list: fc.constant([3]),
  more: fc.constantFrom({ width: 1 }, { padding: 3 }, {}),
  t: fc.constantFrom({ x: 3 }, undefined),
  fixed: fc.constant({ width: 7, margin: 1 }),
  spread: fc.constantFrom({}, { style: { width: 1 } }, { text: 't', staticStyle: { opacity: 0 } }),
  clone: fc.constantFrom({}, { style: { gap: 1 } }, { text: 'cloned' }, { style: undefined }, { image: 'i' }),
});

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
      const source = module(one, other, place);
      const id = `${off} ${source}`;
      const code = compiled.get(id) ?? (await own.compile(source, { passes: { [off]: false } }));
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
  const source = module(
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
