/** Element literals are what `jsx` makes, for random JSX; and what comes out for a few components. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PluginItem, transformSync } from '@babel/core';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.js';
import { install } from '../../../react/test/versions/install.js';
import sluiceScreens, { type FileReport, reportOf, textOf } from '../../src/screens/index.js';
import { VALUES, jsx, moduleSource } from '../support/generate.js';
import { Root, World, looks, own } from './support/world.js';

const worlds = [own, new World(install('18.3'))];

type Page = (props: { p: typeof VALUES; t: <T>(n: number, value: T) => T }) => unknown;

for (const world of worlds) {
  const { renderToString } = world.require('react-dom/server') as {
    renderToString: (element: unknown) => string;
  };

  const outcome = (Page: Page): unknown => {
    const evaluated: number[] = [];
    const t = <T>(n: number, value: T): T => {
      evaluated.push(n);
      return value;
    };
    try {
      return [renderToString(world.jsx(Page, { p: VALUES, t })), evaluated];
    } catch (error) {
      return [`throws ${(error as Error).message}`, evaluated];
    }
  };

  void test(`React ${world.react.version} renders literals as elements of jsx (seed ${seed})`, async () => {
    const property = fc.asyncProperty(
      fc.array(jsx, { minLength: 1, maxLength: 10, size: 'max' }),
      async (elements) => {
        const source = moduleSource(elements, { withIds: true });
        const plain = world.evaluate(source)['default'] as Page[];
        const code = await world.compile(source);
        assert.match(code, /\$\$typeof/);
        const compiled = world.evaluate(code)['default'] as Page[];
        for (const [index, element] of elements.entries())
          assert.deepEqual(outcome(compiled[index] as Page), outcome(plain[index] as Page), element);
      },
    );
    await fc.assert(property, { numRuns: long ? 2_000 : 60, seed }).catch((error: unknown) => {
      console.error(`replay with SLUICE_SEED=${seed}`);
      throw error;
    });
  });

  void test(`elements of React ${world.react.version} have the fields and props that jsx gives them`, async () => {
    const source = `
      import { Other } from 'other';
      export const make = (p) => [
        <Other a={1} b={p.b}>x{p.b}</Other>, <Other key={p.key} />, <Other key="k" />, <Other key={undefined} />, <Other key={p.none} a="1" />,
        <Other ref={p.ref} a={1} />, <Other {...p.spread} />, <Other key="own" {...p.spread} />, <Other {...p.spread} key="late" />,
        <div ref={p.ref} data-x>{p.b}{null}</div>, <></>, <>a</>, <p.Other children={1}>2</p.Other>, <x-y a={\`\${p.b}\`} />, <Other {...null} />,
      ];`;
    for (const defaults of [undefined, { a: 'default', z: 'default' }]) {
      const Other = Object.assign(() => null, { defaultProps: defaults });
      const p = { b: 'b', key: 3, ref: () => undefined, spread: { key: 's', ref: null, q: 1 }, Other };
      const [plain, compiled] = [source, await world.compile(source)].map((code) =>
        (world.evaluate(code, { other: { Other } })['make'] as (p: unknown) => object[])(p),
      ) as [object[], object[]];
      for (const [index, element] of compiled.entries()) {
        const { $e, ...fields } = element as { $e?: unknown };
        assert.ok($e === undefined || typeof $e === 'function');
        assert.deepEqual(fields, { ...plain[index] }, `element ${index}`);
        assert.ok(world.react.isValidElement(element));
        assert.deepEqual(
          Object.keys((element as { props: object }).props),
          Object.keys((plain[index] as { props: object }).props),
        );
      }
    }
  });
}

void test('a file that was compiled for another version of React says so', async () => {
  const code = await own.compile('export const a = <b />;', { react: 18 });
  assert.throws(() => own.evaluate(code), /compiled for React 18, and runs with React 19/);
});

const APP = `
import { memo, useState, type ReactNode } from 'react';
import { Widget } from '@sluice/screens';
import { Poster } from './poster';
enum Size { Small = 100 }
interface Props { readonly title: string; readonly items: readonly { id: string }[]; readonly children?: ReactNode }
const Label = memo(function Label({ text }: { text: string }) { return <Widget style={{ fontSize: 20, opacity: 1 }} text={text} />; });
const Frame = (props: Props & { width: number }) => <Row {...props} height={Size.Small} />;
function Row({ title, items, ...others }: any) {
  const [open] = useState<boolean>(true);
  return (
    <Widget style={{ width: others.width, height: others.height, flexDirection: 'row' as const }}>
      <Label text={title!} />
      {open && items.map((item: any) => <Poster key={item.id} {...item} />)}
      <Widget style={{ width: 4 }} />
      {others.children}
    </Widget>
  );
}
export default function App<T extends Props>(props: T): ReactNode {
  return <Frame {...props} width={640}><Widget text="child" /></Frame>;
}`;

const poster = { Poster: ({ id }: { id: string }) => own.jsx('sluice-widget', { text: id }) };
const INPUT = { title: 't', items: [{ id: 'a' }, { id: 'b' }] };

const shown = (code: string): unknown => {
  const { default: App } = own.evaluate(code, { './poster': poster });
  const root = new Root();
  root.render(own.jsx(App, INPUT));
  return looks(root.render(own.jsx(App, { ...INPUT, title: 'u', items: [{ id: 'b' }, { id: 'a' }] })));
};

function transform(source: string, plugins: PluginItem[], presets: PluginItem[] = []): string {
  const result = transformSync(source, {
    filename: `${import.meta.dirname}/app.tsx`,
    configFile: false,
    babelrc: false,
    parserOpts: { plugins: ['jsx', 'typescript'] },
    plugins,
    presets,
  });
  return result?.code ?? '';
}

void test('TypeScript stays for later tools, and goes with its preset in the same pass', () => {
  const expected = shown(APP);
  const kept = transform(APP, [[sluiceScreens, { react: 19 }]]);
  assert.match(kept, /useState<boolean>/);
  assert.deepEqual(shown(kept), expected);
  const typescript: PluginItem[] = [['@babel/preset-typescript', { allExtensions: true, isTSX: true }]];
  const stripped = transform(
    APP,
    [
      [sluiceScreens, { react: 19 }],
      ['@babel/plugin-transform-react-jsx', { runtime: 'automatic' }],
    ],
    typescript,
  );
  assert.doesNotMatch(stripped, /interface|<Widget|: Props/);
  assert.deepEqual(shown(stripped), expected);
});

void test('the output of React Compiler is compiled, in the same pass or a later one', () => {
  const expected = shown(APP);
  const cached = transform(APP, [['babel-plugin-react-compiler', {}]]);
  for (const code of [
    transform(APP, [
      ['babel-plugin-react-compiler', {}],
      [sluiceScreens, { react: 19 }],
    ]),
    transform(cached, [[sluiceScreens, { react: 19 }]]),
  ]) {
    assert.match(code, /_c\(\d+\)/);
    assert.match(code, /\$\$typeof/);
    assert.match(code, /staticStyle/);
    assert.deepEqual(shown(code), expected);
  }
});

void test('a file in CommonJS gets a require', async () => {
  const source = `const { Widget } = require('@sluice/screens'); exports.default = ({ n }) => <Widget text={n} />;`;
  const code = await own.compile(source);
  assert.match(code, /require\("@sluice\/screens\/runtime"\)/);
  assert.deepEqual(shown(code), shown(source));
});

void test('JSX of other libraries stays', async () => {
  const source = '/** @jsxImportSource solid-js */ export const a = <b />;';
  assert.match(await own.compile(source), /<b \/>/);
});

const compact = (code: string): string => code.replaceAll(/\s+/g, ' ');

void test('what comes out', async () => {
  const wrapper = await own.compile(`export const Card = (props) => <Box {...props} role={props.kind} wide />;
    const Box = ({ role, ...others }) => <Inner {...others} />;
    import { Inner } from './inner';`);
  assert.match(
    compact(wrapper),
    /_role = props\.kind, _props = _owned === _OWNED \? props : \{ \.\.\.props \}, _props\.role = _role, _props\.wide = true, _on\(Box, _props, _owned\)/,
  );
  assert.match(wrapper, /Card\.\$plain = Card;/);
  assert.match(
    compact(wrapper),
    /if \(_owned2 === _OWNED\) \{ \(\{ role \} = _props2\); others = _taken\(_props2, \["role"\]\); \} else \{ \(\{ role, \.\.\.others \} = _props2\); \}/,
  );
  const update = await own.compile(`import { Widget } from '@sluice/screens';
    export const Bar = ({ w, c }) => <Widget style={{ width: w, color: c, paddingVertical: w, height: 8 }} />;`);
  const sent = compact(update);
  assert.match(
    sent,
    /old = before\.style, style = now\.style; if \(old\.width !== style\.width\) \{ if \(typeof style\.width === "number" && style\.width - style\.width === 0\) \{ out\.number\(node\.id, 12, style\.width\); \} else \{ out\.property\(node\.id, "width", style\.width\); \} \}/,
  );
  assert.match(
    sent,
    /out\.number\(node\.id, 26, style\.paddingVertical\); out\.number\(node\.id, 28, style\.paddingVertical\);/,
  );
  assert.match(
    sent,
    /if \(old\.color !== style\.color\) \{ out\.property\(node\.id, "color", style\.color\); \}/,
  );
  assert.match(sent, /Object\.freeze\(\{ height: 8 \}\)/);
  assert.match(
    sent,
    /__proto__: _update, staticStyle: _staticStyle, style: \{ width: w, color: c, paddingVertical: w \}/,
  );
});

const REPORTED = `import { Widget } from '@sluice/screens';
import { Far } from './far';
export const Outer = (props) => <Middle {...props} a={1} b={2} />;
export const Middle = (props) => <Inner {...props} onKey={() => props.open()} />;
export const Inner = (props) => <Far one="1" {...props} />;
export const Page = ({ w }) => <Far icon={<Widget style={{ width: w, height: 1 }} />}><Outer title="t" kind="k" /></Far>;
`;

void test('the report names what was not done, where and why, and stacks of wrappers', async () => {
  const files: FileReport[] = [];
  await own.compile(REPORTED, { report: (file) => void files.push(file) });
  const report = reportOf(files);
  const lines = report.files[0]?.lines ?? [];
  const of = (pass: string): unknown[] =>
    lines
      .filter((line) => line.pass === pass)
      .map(({ line, column, name, done, reason }) => [line, column, name, done, reason]);
  assert.deepEqual(of('merges'), [
    [3, 33, 'Middle', true, ''],
    [4, 34, 'Inner', false, 'props is read in a function that may be called later'],
    [5, 33, 'Far', false, 'attributes precede the spread'],
  ]);
  assert.deepEqual(of('styles'), [
    [
      6,
      43,
      'Widget',
      false,
      'the element is seen by the attribute icon, which may read or replace its style; give staticStyle yourself',
    ],
  ]);
  const [stack] = report.stacks;
  assert.deepEqual(stack?.components, ['Outer', 'Middle', 'Inner', 'Far']);
  assert.equal(stack?.props, 6);
  assert.equal(stack?.copies, 4 + 5 + 6);
  assert.equal(stack?.compiledCopies, 2 + 5 + 6);
  assert.match(textOf(report), /4:34 Inner: not done, because props is read in a function/);
  assert.match(
    textOf(report),
    /4 components copy 6 props: 15 copies per update as written, 13 as compiled \(Outer > Middle > Inner > Far\)/,
  );
});

void test('a pass that is switched off does nothing', async () => {
  const source = `import { Widget } from '@sluice/screens';
    import { Far } from './far';
    export const A = (props) => <B {...props} />;
    export const B = (props) => <C {...props} c={1} />;
    export const C = ({ w }) => <Widget style={{ width: w, height: 1 }}><Far n={w} /></Widget>;`;
  const traces = {
    elements: /\$\$typeof/,
    spreads: /_passedOn\(/,
    merges: /_props\.c = 1/,
    inline: /\$plain/,
    styles: /staticStyle/,
    updates: /_updates\(/,
    comparisons: /\$e:/,
  };
  const all = await own.compile(source);
  for (const [pass, trace] of Object.entries(traces)) {
    assert.match(all, trace, pass);
    assert.doesNotMatch(await own.compile(source, { passes: { [pass]: false } }), trace, pass);
  }
});

void test('blocks need a runtime that knows them', async () => {
  const source = `import { Widget } from '@sluice/screens';
    export const A = ({ p }) => <Widget style={{ width: p }}><Widget text={p} /></Widget>;
    export const B = ({ p }) => <Widget><Widget text={p} /></Widget>;`;
  const older = { '@sluice/screens/runtime': { ...own.runtime, block: undefined } };
  const code = await own.compile(source);
  assert.equal(code.match(/ = _block\(/g)?.length, 2);
  assert.doesNotMatch(code, /updates/);
  assert.throws(() => own.evaluate(code, older), /block\) is not a function/);
  own.evaluate(code);
  own.evaluate(await own.compile(source, { passes: { blocks: false } }), older);
});

void test('text between widgets is a child where JSX has it as one', async () => {
  const isBlock = async (text: string): Promise<boolean> => {
    const code = await own.compile(`import { Widget } from '@sluice/screens';
      export const A = ({ p }) => <Widget><Widget />${text}<Widget text={p} /></Widget>;`);
    return /_block\(/.test(code);
  };
  for (const text of ['', '\n', ' \r\n\t ', '{/* none */}'])
    assert.ok(await isBlock(text), JSON.stringify(text));
  for (const text of [' ', '\t', '&nbsp;', '\u00a0\n', '&#10;', "{' '}"])
    assert.ok(!(await isBlock(text)), JSON.stringify(text));
});

void test('functions are marked before anything in their module renders', async () => {
  const code = await own.compile(`import { Widget } from '@sluice/screens';
    import { render } from 'first';
    render(App);
    function Row({ n }) { return <Widget text={n} />; }
    export function App({ n }) { return <Row n={n} />; }
    render(App);`);
  const root = new Root();
  const ids: unknown[] = [];
  const render = (App: unknown): void => {
    root.render(own.jsx(App, { n: ids.length }));
    ids.push((root.container.children[0] as { id: number }).id);
  };
  own.evaluate(code, { first: { render } });
  assert.equal(new Set(ids).size, 1, 'the widget stays');
});

void test('a comparison says of two elements of a place what memo would', async () => {
  const { make } = own.evaluate(
    await own.compile(`import { Poster } from './poster';
      export const make = (p) => <Poster key={p.k} a={p.a} data-b={p.b} c="c" ref={p.ref}>{p.a}text</Poster>;`),
    { './poster': poster },
  );
  interface Made {
    readonly props: Readonly<Record<string, unknown>>;
    readonly $e: (before: object, now: object) => boolean;
  }
  const values = [0, -0, Number.NaN, undefined, null, 'a', {}];
  const inputs = values.flatMap((a) => values.map((b) => ({ a, b, k: 1, ref: null })));
  const made = inputs.map((input) => (make as (p: object) => Made)(input));
  for (const before of made) {
    for (const now of made) {
      assert.equal(now.$e, before.$e);
      const isEqual = Object.keys(now.props).every((name) => Object.is(before.props[name], now.props[name]));
      assert.equal(now.$e(before.props, now.props), isEqual);
    }
  }
});

void test('a comparison is left to memo where a place may give other props, or many', async () => {
  const files: FileReport[] = [];
  const many = Array.from({ length: 13 }, (_, index) => `p${index}={p}`).join(' ');
  const code = await own.compile(
    `import { Far } from './far';
    export const A = ({ p }) => [<Far {...p} a={1} />, <Far ${many} />, <Far a={1} a={2} />, <B a={p} />, <Widget a={p} />];
    const B = () => null;
    import { Widget } from '@sluice/screens';`,
    { report: (file) => void files.push(file) },
  );
  assert.doesNotMatch(code, /\$e/);
  const lines = files.flatMap((file) => file.lines.filter(({ pass }) => pass === 'comparisons'));
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    ['it has more than 12 props', 'an attribute is given twice'],
  );
});

void test('a component whose parameter is declared again keeps its parameter, and the report says why', async () => {
  for (const again of ['var a = a || 1;', 'if (a) { var a = 2; }', 'function a() {}']) {
    const files: FileReport[] = [];
    const code = await own.compile(
      `export function A({ a, ...rest }) { ${again} return <Inner {...rest} b={a} />; }
      const Inner = ({ b, c }) => <Widget b={b} c={c} />;
      import { Widget } from '@sluice/screens';`,
      { report: (file) => void files.push(file) },
    );
    assert.match(code, /function A\(\{\s*a,\s*\.\.\.rest\s*\}/, again);
    const reasons = files.flatMap((file) => file.lines.map(({ reason }) => reason));
    assert.ok(
      reasons.includes('a name of its parameter is declared again'),
      `${again}: ${reasons.join('; ')}`,
    );
  }
});
