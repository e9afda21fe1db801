/** The Babel plugin among other plugins: TypeScript, the JSX transform, React Compiler. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type PluginItem, transformSync } from '@babel/core';
import type { ComponentType } from 'react';
import sluiceTemplates from '../src/babel.js';
import { APP, OUTPUT, write } from './support/output.js';
import { own } from './support/versions.js';

const TEMPLATE = /_template\("\d+\.\d+\.\d+", \["</;

function transform(source: string, plugins: PluginItem[], presets: PluginItem[] = []): string {
  const result = transformSync(source, {
    filename: `${APP}page.tsx`,
    configFile: false,
    babelrc: false,
    parserOpts: { plugins: ['jsx', 'typescript', 'decorators-legacy'] },
    plugins,
    presets,
  });
  assert.ok(typeof result?.code === 'string');
  return result.code;
}

function html(code: string, props: object = {}): string {
  const Page = own.evaluate(code)['default'] as ComponentType<object>;
  return own.server.renderToString(own.react.createElement(Page, props));
}

function assertSameHtml(source: string, compiled: string, props: object = {}): void {
  assert.match(compiled, TEMPLATE);
  assert.equal(html(compiled, props), html(source, props));
}

void test('types stay for later tools, and go with the TypeScript preset in the same pass', () => {
  const source = `
    import { type ReactNode } from 'react';
    import type { Unused } from './nowhere';
    import { Only } from './nowhere';
    enum Size { Small = 1 }
    const id = <T,>(value: T): T => value;
    export default function Page<P extends { title: string }>({ title }: P & { more?: Only | Unused }): ReactNode {
      return <p className={'static' as string} data-size={Size.Small satisfies Size}>{id<string>(title)!}{(1 as number)}</p>;
    }`;
  const kept = transform(source, [sluiceTemplates]);
  assert.match(kept, /id<string>\(title\)!/);
  assertSameHtml(source, kept, { title: 'a' });

  const typescript = [['@babel/preset-typescript', { allExtensions: true, isTSX: true }]] as PluginItem[];
  const stripped = transform(
    source,
    [sluiceTemplates, ['@babel/plugin-transform-react-jsx', { runtime: 'automatic' }]],
    typescript,
  );
  assert.doesNotMatch(stripped, /nowhere|=> <p|enum/);
  assertSameHtml(source, stripped, { title: 'a' });
});

void test('the classic JSX transform finds its keys', () => {
  const source = `
    import * as React from 'react';
    export default ({ items }) => <ul>{items.map((item) => <li key={item}>{item}</li>)}</ul>;`;
  const compiled = transform(source, [
    sluiceTemplates,
    ['@babel/plugin-transform-react-jsx', { runtime: 'classic' }],
  ]);
  assert.match(compiled, /key: key/);
  assertSameHtml(source, compiled, { items: ['a', 'b'] });
});

const MEMOIZED = `
  import { useState } from 'react';
  export default function Page({ items, title }) {
    const [open] = useState(true);
    const sorted = [...items].sort();
    return (
      <section className="page" aria-label={title} onClick={() => console.log(title)}>
        <h1>{title}</h1>
        {open && <ul>{sorted.map((item) => <li key={item}>{item}</li>)}</ul>}
        <p>static</p>
      </section>
    );
  }`;

void test('what React Compiler has memoized is compiled, in the same pass or a later one', () => {
  const props = { items: ['b', 'a'], title: 't' };
  const memoized = transform(MEMOIZED, [['babel-plugin-react-compiler', {}]]);
  assert.match(memoized, /_c\(\d+\)/);
  for (const compiled of [
    transform(MEMOIZED, [['babel-plugin-react-compiler', {}], sluiceTemplates]),
    transform(memoized, [sluiceTemplates]),
  ]) {
    assert.match(compiled, /_c\(\d+\)/);
    assert.match(compiled, /= _section\w*\(\[/);
    assertSameHtml(MEMOIZED, compiled, props);
  }
});

void test('hooks inside of JSX run in the same order', () => {
  const source = `
    import { useId, useMemo, useState } from 'react';
    const Item = ({ children }) => <i id={useId()}>{children}</i>;
    export default function Page() {
      return (
        <div id={useId()}>
          <p title={useMemo(() => useCount(), [])} data-id={useId()}>{useState('a')[0]}</p>
          <Item>{useId()}</Item>
          <><b>{useId()}</b>{[<Item key="x"><em>{useId()}</em></Item>]}</>
        </div>
      );
    }
    const useCount = () => 1;`;
  assertSameHtml(source, transform(source, [sluiceTemplates]));
});

void test('expressions are evaluated in the order of the source, keys last', () => {
  const source = `
    export default function Page({ log }) {
      return (
        <div key={log('key')} title={log('a')} onClick={log('b')} style={{ color: log('c') }}>
          {log('d')}
          <p data-x={log('e')}>{log('f')}</p>
          <li key={log('inner key')} id={log('g')}>{log('h')}</li>
          <input value={log('i')} {...log('j')} />
          <img src={log('k')} />
        </div>
      );
    }`;
  const order = (code: string): string[] => {
    const seen: string[] = [];
    html(code, { log: (name: string) => (seen.push(name), name) });
    return seen;
  };
  const compiled = transform(source, [sluiceTemplates]);
  assert.match(compiled, TEMPLATE);
  assert.deepEqual(order(compiled), order(source));
  assert.deepEqual(order(compiled), [
    'a',
    'b',
    'c',
    'd',
    'e',
    'f',
    'g',
    'h',
    'inner key',
    'i',
    'j',
    'k',
    'key',
  ]);
});

void test('components get the props, in the order of the source, that JSX gives them', () => {
  const source = `
    const Show = (props) => JSON.stringify(Object.entries(props).map(([name, value]) => [name, show(value)]));
    const show = (value) => value?.$$typeof ? value.type : Array.isArray(value) ? value.map(show) : value;
    const parts = { inner: { Show }, memo: Object.assign(Show.bind(null), { displayName: 'S' }) };
    export default function Page({ log }) {
      const Local = log('p', 'p');
      return (
        <main>
          <Show first={log('a', 1)} data-x second aria-label='"&quot;' class="c" />
          text
          <parts.inner.Show>{log('b', 'one')}</parts.inner.Show>
          <parts.memo title="t">text {log('c', 2)}<b>{log('d', 'x')}</b>{/* none */}</parts.memo>
          <Local title={log('e', 'x')}>{log('f', 'y')}</Local>
          {<Show>{[log('g', 'z')]}</Show>}
        </main>
      );
    }`;
  const compiled = transform(source, [sluiceTemplates]);
  assert.equal(compiled.match(/\[3, /g)?.length, 5);
  const seen = (code: string): string[] => {
    const names: string[] = [];
    const log = (name: string, value: unknown): unknown => (names.push(name), value);
    assert.notEqual(html(code, { log }), '');
    return names;
  };
  assertSameHtml(source, compiled, { log: (_name: string, value: unknown) => value });
  assert.deepEqual(seen(compiled), seen(source));
});

void test('a component with what belongs to its element, or to a later step, stays JSX', () => {
  for (const jsx of [
    '<C key="k" />',
    '<C ref={p} />',
    '<C {...p} />',
    '<C children={p} />',
    '<C css={p} />',
    '<C a="1" a="2" />',
    '<C a:b="1" />',
    '<C title="two\n  lines" />',
    '<C a=<b/> />',
    '<C>a\tb</C>',
    '<C>{...p}</C>',
    '<this.C />',
    '<this.C.D />',
  ]) {
    const compiled = transform(`export default (p) => <div>{p}${jsx}</div>;`, [sluiceTemplates]);
    assert.doesNotMatch(compiled, /\[3, /, jsx);
    assert.match(compiled, TEMPLATE);
  }
  const whole = transform('export default () => <div><C /></div>;', [
    [sluiceTemplates, { components: false }],
  ]);
  assert.match(whole, /_div\(\[<C \/>\]\)/);
});

void test('defaults are filled in as the JSX transform in use does', () => {
  const source = `
    import * as React from 'react';
    const Show = ({ title }) => title;
    Show.defaultProps = { title: 'by default' };
    class Shown extends React.Component { static defaultProps = { title: 'of a class' }; render() { return this.props.title; } }
    export default () => <div>{1}<p>a<><i/><Show /></></p><Shown /><Show title="given" /></div>;`;
  for (const runtime of ['automatic', 'classic']) {
    const jsx: PluginItem = ['@babel/plugin-transform-react-jsx', { runtime }];
    const compiled = transform(source, [sluiceTemplates, jsx]);
    assert.match(compiled, TEMPLATE);
    const expected = html(transform(source, [jsx]));
    assert.match(expected, runtime === 'classic' ? /by default/ : /<i><\/i><\/p>/);
    const Page = own.evaluate(compiled)['default'] as ComponentType<object>;
    assert.equal(own.sluice?.renderToString(own.react.createElement(Page)), expected);
    assert.equal(html(compiled), expected);
  }
});

void test('what has rules at run time stays JSX', () => {
  for (const jsx of [
    '<div {...p} />',
    '<p ref={p} />',
    '<p dangerouslySetInnerHTML={p} />',
    '<p children={p} />',
    '<p style="color: red" />',
    '<p suppressHydrationWarning={p} />',
    '<p a="1" a="2" />',
    '<p is="x-p" />',
    '<p title="two\n  lines" />',
    '<p>a\tb</p>',
    '<pre>{p}</pre>',
    '<br>{p}</br>',
    '<img src={p} />',
    '<img src={p} loading={p} />',
    '<input />',
    '<form action={p} />',
    '<button formAction={p} />',
    '<button name="n" />',
    '<title>t</title>',
    '<x-card />',
    '<blink />',
    '<svg xlink:href="#a" />',
    '<Component />',
  ]) {
    assert.doesNotMatch(transform(`export default (p) => ${jsx};`, [sluiceTemplates]), /_template/, jsx);
  }
});

void test('files where JSX is not plainly React stay as they are', () => {
  for (const source of [
    '/** @jsxImportSource preact */ export default () => <p>x</p>;',
    '/** @jsx h */ export default () => <p>x</p>;',
    'export default () => <div><style jsx>{`p { color: red }`}</style><p>x</p></div>;',
  ]) {
    assert.doesNotMatch(transform(source, [sluiceTemplates]), /_template/);
  }
});

void test('a CommonJS file requires what it needs', () => {
  const compiled = transform('exports.default = () => <p>x</p>;', [sluiceTemplates]);
  assert.match(compiled, /const \{\s*template: _template\s*\} = require\("@sluice\/react\/template"\)/);
  assert.equal(html(compiled), '<p>x</p>');
});

void test('directives stay in front', () => {
  const compiled = transform(`'use client';\nexport default () => <p>x</p>;`, [sluiceTemplates]);
  assert.match(compiled, /^'use client';/);
});

void test('a variable named undefined is a value', () => {
  const source = 'export default () => ((undefined) => <p title={undefined}>{undefined}</p>)("x");';
  assertSameHtml(source, transform(source, [sluiceTemplates]));
});

void test('an unknown version of React is left alone, with one warning', () => {
  const reactFrom = join(OUTPUT, 'app');
  for (const name of ['react', 'react-dom']) {
    mkdirSync(join(reactFrom, 'node_modules', name), { recursive: true });
    write(`app/node_modules/${name}/index.js`, '');
    write(`app/node_modules/${name}/server.js`, 'exports.version = "20.0.0";');
  }
  const warnings: string[] = [];
  const plugin: PluginItem = [
    sluiceTemplates,
    { reactFrom, warn: (message: string) => warnings.push(message) },
  ];
  for (const _ of [1, 2]) {
    assert.doesNotMatch(transform('export default () => <p>x</p>;', [plugin]), /_template/);
  }
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /React 20\.0\.0 is not supported/);
});

void test('a file from which react-dom is not found is compiled for that of the working directory', () => {
  const compiled = transformSync('export default () => <p>x</p>;', {
    filename: join(tmpdir(), 'elsewhere.jsx'),
    cwd: APP,
    configFile: false,
    babelrc: false,
    parserOpts: { plugins: ['jsx'] },
    plugins: [sluiceTemplates],
  });
  assert.match(compiled?.code ?? '', new RegExp(`_template\\("${own.name}"`));
});
