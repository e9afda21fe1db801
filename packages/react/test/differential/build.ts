/** Makes React elements of a description. Components build their own children when they render, as real ones do. */

import type { Context, ReactNode } from 'react';
import type { CompiledElement, Place, Types } from './compiled.ts';
import type { ChildShape, Node, Thrown } from './description.ts';
import { useHooks } from './hooks.ts';
import { keptOf } from './kept.ts';
import { classOf, legacyContextOf } from './classes.ts';
import { propsOf, valueOf } from './values.ts';
import { errorOf, once, type World } from './world.ts';

export function build(nodes: readonly Node[], world: World): ReactNode {
  const children = nodes.map((node) => buildNode(node, world));
  return children.length === 1
    ? children[0]
    : world.React.createElement(world.React.Fragment, null, ...children);
}

function buildNode(node: Node, world: World): ReactNode {
  const { React } = world;
  const h = React.createElement as (type: unknown, props: unknown, ...children: unknown[]) => ReactNode;
  switch (node.k) {
    case 'text':
      return node.v;
    case 'value':
      return valueOf(node.v) as ReactNode;
    case 'element': {
      const compiled = world.compiled?.get(node);
      if (compiled !== undefined) return madeOf(compiled, world);
      return h(node.tag, propsOf(node.props), ...childrenIn(node.shape, node.of, world));
    }
    case 'wrap': {
      const type = wrapperOf(node.as, world);
      // What this version of React lacks is a fragment, for every renderer alike.
      const props = { ...type.props, ...(node.key === undefined ? {} : { key: node.key }) };
      return h(type.type, props, ...childrenIn(node.shape, node.of, world));
    }
    case 'suspense':
      return h(
        React.Suspense,
        {
          fallback: build(node.fallback, world),
          ...(node.defer === undefined ? {} : { unstable_defer: node.defer, defer: node.defer }),
        },
        ...node.of.map((each) => buildNode(each, world)),
      );
    case 'component':
      return h(componentOf(node, world), { given: 'prop', maybe: undefined });
    case 'class':
      return h(
        once(world, node, () => classOf(node, world, (nodes) => build(nodes, world))),
        { given: 'prop', maybe: undefined, ref: null },
      );
    case 'provider': {
      const context = contextOf(world, node.context);
      return h(
        context.Provider,
        { value: valueOf(node.v) },
        ...node.of.map((each) => buildNode(each, world)),
      );
    }
    case 'consumer':
      return h(contextOf(world, node.context).Consumer, null, (value: unknown) => [
        shown(value),
        build(node.of, world),
      ]);
    case 'context-child':
      return contextOf(world, node.context) as unknown as ReactNode;
    case 'lazy':
      return lazyOf(node, world);
    case 'awaited':
      return once(world, node, () => later(world, node.promise, (text) => [text, build(node.of, world)]));
    case 'async-component':
      return h(
        once(world, node, () =>
          named('Waiting', () => {
            world.activity += 1;
            return later(world, node.promise, (text) => h('i', { title: text }, build(node.of, world)));
          }),
        ),
        null,
      );
    case 'throw':
      return h(
        once(world, node, () =>
          named('Thrower', () => {
            throw thrownOf(node.v);
          }),
        ),
        null,
      );
    case 'throw-promise':
      return throwsPromise(node, world);
    case 'legacy-context':
      return h(
        once(world, node, () => legacyContextOf(world, node.as, () => build(node.of, world))),
        null,
      );
    case 'portal':
      return world.ReactDOM.createPortal(build(node.of, world), { nodeType: 1 });
    case 'bad-type':
      return badElement(node.v, world);
    case 'twice': {
      // The same element object in two places, as a constant that was lifted out of a component.
      const children = build(node.of, world);
      return h('b', null, children, '|', children);
    }
    case 'kept':
      return keptOf(node, world, build);
  }
}

function madeOf({ make, places }: CompiledElement, world: World): ReactNode {
  const types = new Proxy<Types>(
    {},
    { get: (_target, name) => typeIn(places[Number(String(name).slice('of'.length))], world) },
  );
  return make((place) => inPlace(places[place], world), types);
}

function typeIn(place: Place | undefined, world: World): unknown {
  if (place === undefined || !('node' in place))
    throw new Error('the compiled JSX asks for a type that it does not have');
  const { node } = place;
  if (node.k === 'provider') return contextOf(world, node.context).Provider;
  if (node.k === 'suspense') return world.React.Suspense;
  return (buildNode(node, world) as { readonly type: unknown }).type;
}

function inPlace(place: Place | undefined, world: World): unknown {
  if (place === undefined) throw new Error('the compiled JSX asks for a place that it does not have');
  if ('value' in place) return valueOf(place.value);
  if ('built' in place) return build(place.built, world);
  return 'node' in place ? buildNode(place.node, world) : childrenIn(place.shape, place.of, world)[0];
}

/** The arguments of createElement after the props. */
function childrenIn(shape: ChildShape, nodes: readonly Node[], world: World): unknown[] {
  if (nodes.length === 0) return [];
  const children = (): ReactNode[] => nodes.map((node) => buildNode(node, world));
  switch (shape) {
    case 'arguments':
      return children();
    case 'array':
      return [children()];
    case 'keyed':
      return [
        nodes.map((node, index) =>
          world.React.createElement(world.React.Fragment, { key: `k${index}` }, buildNode(node, world)),
        ),
      ];
    case 'set':
      return [new Set(children())];
    case 'generator':
      // Asked again it begins again: a suspended render may walk it more than once.
      return [{ [Symbol.iterator]: () => children()[Symbol.iterator]() }];
    case 'promise':
      return [once(world, nodes, () => Promise.resolve(children()))];
  }
}

function wrapperOf(as: (Node & { k: 'wrap' })['as'], { React }: World): { type: unknown; props: object } {
  const or = (type: unknown, props: object) =>
    type === undefined ? { type: React.Fragment, props: {} } : { type, props };
  switch (as) {
    case 'fragment':
      return { type: React.Fragment, props: {} };
    case 'strict':
      return { type: React.StrictMode, props: {} };
    case 'profiler':
      return { type: React.Profiler, props: { id: 'p', onRender: () => undefined } };
    case 'activity':
      return or(React['Activity'] ?? React['unstable_Activity'], { mode: 'visible' });
    case 'activity-hidden':
      return or(React['Activity'] ?? React['unstable_Activity'], { mode: 'hidden' });
    case 'view-transition':
      return or(React['ViewTransition'], { enter: 'slide', share: { default: 'auto' } });
    case 'view-transition-named':
      return or(React['ViewTransition'], { name: 'hero', default: 'none' });
    case 'list-forwards':
      return or(React['unstable_SuspenseList'] ?? React['SuspenseList'], {
        revealOrder: 'forwards',
        tail: 'collapsed',
      });
    case 'list-together':
      return or(React['unstable_SuspenseList'] ?? React['SuspenseList'], { revealOrder: 'together' });
  }
}

function componentOf(node: Node & { k: 'component' }, world: World): unknown {
  const { React } = world;
  return once(world, node, () => {
    // forwardRef wants two parameters, and says so in development.
    const render = (props: { extra?: string }, _ref?: unknown): ReactNode => {
      world.activity += 1;
      const results = useHooks(node.hooks, world);
      const body = build(node.of, world);
      const extra = props.extra ?? null;
      switch (node.returns) {
        case 'fragment':
          return React.createElement(React.Fragment, null, ...results, extra, body);
        case 'array':
          return [...results, extra, body];
        case 'element':
          return React.createElement('section', { title: node.name }, ...results, extra, body);
        case 'bare':
          return body;
        case 'body-first':
          return React.createElement('p', null, body, ...results);
      }
    };
    const component = named(node.name, render);
    switch (node.as) {
      case 'function':
        return component;
      case 'memo':
        return React.memo(component);
      case 'memo-compare':
        return React.memo(component, () => true);
      case 'forward-ref':
        return React.forwardRef(component);
      case 'memo-forward-ref':
        return React.memo(React.forwardRef(component));
      case 'default-props':
        return Object.assign(component, { defaultProps: { extra: 'from defaultProps' } });
      case 'memo-default-props':
        return React.memo(Object.assign(component, { defaultProps: { extra: 'from defaultProps' } }));
      case 'instance':
        return isReact18(world)
          ? named(node.name, (props: object) => instanceOf(component, props))
          : component;
    }
  });
}

/** What React 18 takes for a class component, and what no other takes. */
function instanceOf(component: (props: object) => ReactNode, props: object): ReactNode {
  const instance = {
    state: { count: 1 },
    updater: { enqueueSetState: (_instance: unknown, _update: object): void => undefined },
    componentWillMount(this: object) {
      instance.updater.enqueueSetState(this, { mounts: shown(instance.state.count) });
    },
    render: () => [shown(instance.state), children],
  };
  const children = component(props);
  return instance as unknown as ReactNode;
}

function isReact18({ React }: World): boolean {
  return React.version.startsWith('18.');
}

function lazyOf(node: Node & { k: 'lazy' }, world: World): ReactNode {
  const { React } = world;
  const load = (): Promise<{ default: unknown }> => {
    world.activity += 1;
    return later(world, node.promise, (text) => ({ default: loadedOf(node, world, text) }));
  };
  const lazy = once(world, node, () => React.lazy(load as never));
  return node.as === 'node'
    ? (lazy as unknown as ReactNode)
    : React.createElement(lazy as never, { ref: () => undefined } as never);
}

function loadedOf(node: Node & { k: 'lazy' }, world: World, text: string): unknown {
  const { React } = world;
  const loaded = named('Loaded', ({ extra }: { extra?: string }, ref?: unknown): ReactNode => [
    text,
    `${extra} ${shown(ref)}`,
    build(node.of, world),
  ]);
  switch (node.as) {
    case 'component':
      return loaded;
    case 'node':
      return React.createElement('em', null, text, build(node.of, world));
    case 'default-props':
      return Object.assign(loaded, { defaultProps: { extra: 'from defaultProps' } });
    case 'forward-ref':
      return React.forwardRef(loaded);
  }
}

/** The way of React before `use`, still honoured: throw the promise, and have the value when asked again. */
function throwsPromise(node: Node & { k: 'throw-promise' }, world: World): ReactNode {
  const type = once(world, node, () => {
    let result: { text: string } | { error: unknown } | undefined;
    const waiting = turn(world, node.promise).then(
      (text) => {
        result = { text };
      },
      (error: unknown) => {
        result = { error };
      },
    );
    return named('Thrown', () => {
      world.activity += 1;
      if (result === undefined) throw waiting;
      if ('error' in result) throw result.error;
      return [result.text, build(node.of, world)];
    });
  });
  return world.React.createElement(type);
}

function badElement(type: (Node & { k: 'bad-type' })['v'], { React }: World): ReactNode {
  const types: Record<typeof type, unknown> = {
    undefined: undefined,
    null: null,
    object: { not: 'a type' },
    number: 12,
    symbol: Symbol.for('react.unheard_of'),
    element: React.createElement('b'),
    '': '',
  };
  return React.createElement(types[type] as never);
}

export function thrownOf(thrown: Thrown): unknown {
  return thrown.as === 'error' ? errorOf(thrown.message, thrown.digest) : valueOf(thrown.v);
}

/** What `then` makes of a promise's text; `null` is a promise that has settled. */
function later<T>(world: World, index: number | null, then: (text: string) => T): Promise<T> {
  const waiting = (index === null ? Promise.resolve('') : turn(world, index)).then(then);
  // A renderer that gave up does not listen any more.
  waiting.catch(() => undefined);
  return waiting;
}

function turn(world: World, index: number): Promise<string> {
  const found = world.turns[index];
  if (found === undefined) throw new Error(`the scenario has no promise ${index}`);
  return found.promise;
}

export function contextOf(world: World, index: number): Context<unknown> {
  const found = world.contexts[index];
  if (found === undefined) throw new Error(`there is no context ${index}`);
  return found;
}

/** Gives a component the name that its stacks carry; an empty one stays anonymous. */
function named<T extends (...args: never[]) => unknown>(name: string, component: T): T {
  return Object.defineProperty(component, 'name', { value: name });
}

export function shown(value: unknown): string {
  if (typeof value === 'symbol' || typeof value === 'function') return typeof value;
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, shownWithin) ?? 'nothing';
  return String(value);
}

/** What JSON does not tell apart, or has no sign for. */
function shownWithin(_name: string, value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
}
