/** Random stacks of wrappers as source text, and what can be seen of their props. */
import * as fc from 'fast-check';
import type { Exports, World } from './world.js';

/** How a wrapper looks, around `Inner`; `OWN` are attributes. The names are those of the test's report. */
export const KINDS = {
  pass: 'export const Outer = (props) => <Inner {...props} />;',
  passFunction: 'export function Outer(props) { spy(props.a); return <Inner {...props} />; }',
  merge: 'export const Outer = (props) => <Inner {...props} OWN />;',
  mergeReads:
    'export function Outer(props) { const { a, b = 7 } = props; return <Inner {...props} OWN c={[a, b, props.d]} />; }',
  mergeSwaps: 'export function Outer(props) { return <Inner {...props} a={props.b} b={props.a} OWN />; }',
  mergeClosure:
    'export const Outer = (props) => <Inner {...props} OWN f={() => [props.a, props.b, Object.keys(props)]} />;',
  mergeKeys: 'export const Outer = (props) => { spy(Object.keys(props)); return <Inner {...props} OWN />; };',
  mergeIn: `export const Outer = (props) => { spy('a' in props, Object.hasOwn(props, 'b')); return <Inner {...props} OWN />; };`,
  mergeLeak: 'export const Outer = (props) => { spy(props); return <Inner {...props} OWN />; };',
  mergeCall: 'export const Outer = (props) => { props.g?.(); return <Inner {...props} OWN />; };',
  mergeLater: 'export const Outer = (props) => <Inner {...props} OWN d={(() => props.a)()} />;',
  mergeChildren:
    'export const Outer = (props) => <Inner {...props} OWN>{props.a}<Leaf {...props} /></Inner>;',
  mergeTwice: 'export const Outer = (props) => <Inner {...props} OWN e={<Leaf {...props} />} />;',
  rest: 'export const Outer = ({ a, b = 3, ...others }) => <Inner {...others} OWN b={b} />;',
  restAll: 'export const Outer = ({ ...others }) => <Inner {...others} OWN />;',
  restOnly: 'export const Outer = ({ c, d, ...others }) => <Inner {...others} />;',
  restBody:
    'export function Outer(props) { const { a, ...others } = props; return <Inner {...others} OWN a={a} />; }',
  restRead:
    'export function Outer(props) { const { a, ...others } = props; return <Inner {...others} OWN c={[a, props.a, others.b]} />; }',
  restClosure:
    'export const Outer = ({ a, ...others }) => <Inner {...others} OWN f={() => Object.entries(others)} />;',
  before: 'export const Outer = (props) => <Inner OWN {...props} />;',
  two: 'export const Outer = (props) => <Inner {...props} {...{ a: 5, z: props.b }} OWN />;',
  keyed: 'export const Outer = (props) => <Inner key={props.a} {...props} OWN />;',
  keyedLate: 'export const Outer = (props) => <Inner {...props} OWN key="k" />;',
  conditional: 'export const Outer = (props) => props.a ? <Inner {...props} OWN /> : <Inner {...props} />;',
  early:
    'export function Outer(props) { if (props.b === 2) return <Inner {...props} />; return <Inner {...props} OWN />; }',
  widget: 'export const Outer = (props) => <Widget text="w"><Inner {...props} OWN /></Widget>;',
  fragment: 'export const Outer = (props) => <><Inner {...props} OWN /><Leaf {...props} /></>;',
  state:
    'export function Outer(props) { const [n, set] = useState(0); setters.push(set); return <Inner {...props} OWN n={n} />; }',
  memoHook:
    'export function Outer(props) { const f = useCallback(() => props.a, [props.a]); return <Inner {...props} OWN f={f} />; }',
  effect:
    'export function Outer(props) { useEffect(() => { spy("effect", props.a); }); return <Inner {...props} OWN />; }',
  layout:
    'export const Outer = (props) => { useLayoutEffect(() => { spy("layout", props.a); }); return <Inner {...props} OWN />; };',
  memo: 'export const Outer = memo(function Outer(props) { return <Inner {...props} OWN />; });',
  forward: 'export const Outer = forwardRef((props, ref) => <Inner {...props} OWN />);',
  clone: 'export const Outer = (props) => cloneElement(<Inner {...props} OWN />, { a: 9 });',
  called:
    'const Made = (props) => <Inner {...props} OWN />; export const Outer = (props) => { const one = Made(props); return cloneElement(one, { z: Object.keys(one.props) }); };',
  cloneInner:
    'const Picky = ({ children }) => cloneElement(children, { z: JSON.stringify(children.props.a) }); export const Outer = (props) => <Picky><Inner {...props} OWN /></Picky>;',
  class:
    'export class Outer extends Component { render() { spy(Object.keys(this.props)); return <Inner {...this.props} OWN />; } }',
  copiedMark:
    'const Plain = (props) => <Inner {...props} />; export const Outer = Object.assign((props) => { useState(0); return <Plain {...props} OWN />; }, Plain);',
  reassigned:
    'export let Outer = (props) => { props = { ...props, a: 1 }; return <Inner {...props} OWN />; };',
  arguments:
    'export function Outer(props) { spy(Object.keys(arguments[0])); return <Inner {...props} OWN />; }',
  defaults: 'export const Outer = (props = {}) => <Inner {...props} OWN />;',
  throws:
    'export function Outer(props) { if (props.a === "throw") throw new Error("thrown"); return <Inner {...props} OWN />; }',
} as const;
export type Kind = keyof typeof KINDS;

const ATTRIBUTES = [
  'a={1}',
  'a="throw"',
  'b={undefined}',
  'b={props => props}',
  'c="c"',
  'd={null}',
  'data-x={2}',
  'constructor={3}',
  'flag',
  'ref={null}',
];

export interface Wrapper {
  readonly kind: Kind;
  readonly own: readonly string[];
  readonly compiled: boolean;
}

export const wrapper: fc.Arbitrary<Wrapper> = fc.record({
  kind: fc.constantFrom(...(Object.keys(KINDS) as Kind[])),
  own: fc.uniqueArray(fc.constantFrom(...ATTRIBUTES), { maxLength: 3, selector: (one) => one.split('=')[0] }),
  compiled: fc.boolean(),
});

const value = fc.constantFrom<unknown>(1, 2, 'x', null, undefined, true, 'throw');
export const entries = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', 'e', '1', '__proto__', 'data-x', 'toString'),
  value,
  { noNullPrototype: true },
);
export const SHAPES = [
  'plain',
  'frozen',
  'null',
  'getters',
  'symbols',
  'class',
  'key',
  'ref',
  'sealed',
] as const;
const SYMBOL = Symbol('s');

/** Props as an app may hand them to `jsx`. */
export function propsOf(shape: (typeof SHAPES)[number], all: Record<string, unknown>): object {
  switch (shape) {
    case 'plain':
      return { ...all };
    case 'frozen':
      return Object.freeze({ ...all });
    case 'sealed':
      return Object.seal({ ...all });
    case 'null':
      return Object.assign(Object.create(null) as object, all);
    case 'getters': {
      const props = {};
      for (const name of Object.keys(all))
        Object.defineProperty(props, name, { enumerable: true, get: () => all[name] });
      return props;
    }
    case 'symbols':
      return { ...all, [SYMBOL]: 4 };
    case 'class':
      return Object.assign(
        new (class {
          get inherited() {
            return 1;
          }
        })(),
        all,
      );
    case 'key':
      return { ...all, key: 'k' };
    case 'ref':
      return { ...all, ref: null };
  }
}

const HEAD = `import { Component, Fragment, cloneElement, forwardRef, memo, useCallback, useEffect, useLayoutEffect, useState } from 'react';
import { Widget } from '@sluice/screens';
import { spy, setters } from 'probe';
import { Inner, Leaf } from 'inner';
`;

/** Writes down all that can be seen of the props. */
const LEAF = `import { spy } from 'probe';
import { Widget } from '@sluice/screens';
export function Leaf(props) {
  const names = [];
  for (const name in props) names.push(name);
  spy('leaf', Reflect.ownKeys(props), names, Object.entries(props), JSON.stringify(props), Object.hasOwn(props, 'a'), 'a' in props,
    Object.getPrototypeOf(props) === Object.prototype, typeof props.f === 'function' ? props.f() : props.f);
  return <Widget text={'leaf ' + String(props.a)} />;
}
`;

const compiledSources = new Map<string, string>();

export async function sourceOf(
  world: World,
  { kind, own: attributes }: Wrapper,
  passes: string,
): Promise<[string, string]> {
  const source = HEAD + KINDS[kind].replaceAll('OWN', attributes.join(' '));
  const id = `${world.major} ${passes} ${source}`;
  let compiled = compiledSources.get(id);
  if (compiled === undefined) {
    const off = passes === '' ? [] : passes.split(',');
    compiled = await world.compile(source, { passes: Object.fromEntries(off.map((pass) => [pass, false])) });
    compiledSources.set(id, compiled);
  }
  return [source, compiled];
}

interface Stack {
  readonly Outer: unknown;
  readonly seen: unknown[][];
  readonly setters: ((to: unknown) => void)[];
}

async function build(
  world: World,
  stack: readonly Wrapper[],
  isCompiled: boolean,
  passes: string,
): Promise<Stack> {
  const seen: unknown[][] = [];
  const setters: Stack['setters'] = [];
  const spy = (...values: unknown[]): void =>
    void seen.push(values.map((one) => (typeof one === 'function' ? 'a function' : copied(one))));
  const probe = { spy, setters };
  const { Leaf } = world.evaluate(LEAF, { probe });
  let Inner = Leaf;
  for (const one of stack.toReversed()) {
    const [source, compiled] = await sourceOf(world, one, passes);
    const modules: Record<string, Exports> = { probe, inner: { Inner, Leaf } };
    ({ Outer: Inner } = world.evaluate(isCompiled && one.compiled ? compiled : source, modules));
  }
  return { Outer: Inner, seen, setters };
}

/** As it is now: an object that somebody changes later has been seen before. */
const copied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return value;
  if ('$$typeof' in value) return 'an element';
  return Object.fromEntries(
    Reflect.ownKeys(value).map((name) => [
      String(name),
      copied((value as Record<PropertyKey, unknown>)[name]),
    ]),
  );
};

/** Names of effects come in the order of effects; the rest in the order of calls. */
export async function history(
  world: World,
  stack: readonly Wrapper[],
  inputs: readonly object[],
  isCompiled: boolean,
  passes: string,
  render: Renderer,
): Promise<unknown> {
  const { Outer, seen, setters } = await build(world, stack, isCompiled, passes);
  const results: unknown[] = [];
  const attempt = (work: () => unknown): void => {
    let result: unknown;
    try {
      result = work();
    } catch (error) {
      result = `throws ${(error as Error).message}`;
    }
    results.push(result, seen.splice(0));
  };
  for (const input of inputs) {
    attempt(() => render.render(world.jsx(Outer, input)));
    const setter = setters.at(-1);
    setters.length = 0;
    if (setter !== undefined && render.act !== undefined) {
      const { act } = render;
      // A state that changes renders its own component again: what outer ones show is the same.
      attempt(() => act(() => setter((n: number) => n + 1)));
      const after = results.pop() as unknown[][];
      results.push(after.filter(([first]) => first === 'leaf').at(-1));
    }
  }
  return results;
}

export interface Renderer {
  render(element: unknown): unknown;
  readonly act?: (work: () => void) => unknown;
}
