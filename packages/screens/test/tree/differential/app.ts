/* oxlint-disable unicorn/no-thenable, typescript/no-explicit-any -- promises that the test settles; components of any props */
/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Apps from a description: components with state, effects, refs and boundaries that note what happens to them. */
import * as React from 'react';
import type { Children, Spec } from './specs.ts';

const { createElement: h } = React;
type Any = any;

/** A promise that settles when the test says so, and calls back at once. */
export class Later {
  private readonly listeners: [(value: unknown) => void, (reason: unknown) => void][] = [];
  private state: 'waiting' | 'done' | 'failed' = 'waiting';
  private result: unknown;

  then(resolve: (value: unknown) => void, reject: (reason: unknown) => void): void {
    if (this.state === 'done') resolve(this.result);
    else if (this.state === 'failed') reject(this.result);
    else this.listeners.push([resolve, reject]);
  }

  settle(value: unknown, fails: boolean): void {
    if (this.state !== 'waiting') return;
    this.state = fails ? 'failed' : 'done';
    this.result = value;
    for (const [resolve, reject] of this.listeners.splice(0)) (fails ? reject : resolve)(value);
  }
}

export const PROMISES = 4;

/** One side of a comparison: what its app has noted, and how to reach its components. */
export class Side {
  readonly log: string[] = [];
  readonly setters = new Map<string, (value: unknown) => void>();
  readonly starts = new Map<string, (run: () => void) => void>();
  promises = Array.from({ length: PROMISES }, () => new Later());
  readonly contexts = [React.createContext(0), React.createContext(0)];
  readonly lazies = new Map<string, Any>();
  readonly types = new Map<string, Any>();
  store = 0;
  /**
   * Updates that components may make by themselves. An app must come to rest before the limit of nested updates (50): react-reconciler may meet that
   * in the middle of a commit, and cannot continue.
   */
  budget = 40;
  readonly listeners = new Set<() => void>();

  note(what: string): void {
    this.log.push(what);
  }

  setStore(value: number): void {
    this.store = value;
    for (const listener of Array.from(this.listeners)) listener();
  }
}

function ref(side: Side, kind: number, name: string): Any {
  switch (kind) {
    case 1:
      return (value: unknown) => side.note(`ref ${name} ${value === null ? '-' : '+'}`);
    case 2:
      return (value: unknown) => {
        side.note(`ref ${name} ${value === null ? 'null' : '+'}`);
        return () => side.note(`ref ${name} cleanup`);
      };
    case 3:
      return {
        set current(value: unknown) {
          side.note(`ref ${name} = ${value === null ? 'null' : 'set'}`);
        },
      };
    default:
      return undefined;
  }
}

export function children(side: Side, { list, keyed, orders }: Children, state: number, v: number): unknown {
  const order = orders[state % orders.length]!;
  const shown = order.map((index) => {
    if (index < 0 || index >= list.length) return null;
    const spec = list[index]!;
    return element(side, spec, keyed ? `k${index}` : undefined, v);
  });
  // The same without a list: children in fixed places.
  return keyed ? shown.filter((child) => child !== null) : shown.length === 1 ? shown[0] : shown;
}

function element(side: Side, spec: Spec, key: string | undefined, v: number): unknown {
  const props: Any = key === undefined ? {} : { key };
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are components
  switch (spec.t) {
    case 'w': {
      const stable = `ref ${spec.name}`;
      if (spec.ref > 0) {
        if (!side.types.has(stable)) side.types.set(stable, ref(side, spec.ref, spec.name));
        props.ref = spec.fresh ? ref(side, spec.ref, spec.name) : side.types.get(stable);
      }
      return h(
        'sluice-widget',
        { ...props, text: spec.name + (spec.shows ? v : '') },
        children(side, spec.kids, v, v) as Any,
      );
    }
    case 'g':
      return h(React.Fragment, props, children(side, spec.kids, v, v) as Any);
    case 's':
      return h(
        React.Suspense,
        { ...props, fallback: children(side, spec.fallback, v, v) as Any },
        children(side, spec.kids, v, v) as Any,
      );
    case 'n':
      return null;
    default:
      return h(typeOf(side, spec), {
        ...props,
        v,
        ...(spec.t === 'f' && spec.wrap === 'forward' ? { ref: handleOf(side, spec.name) } : {}),
      });
  }
}

function handleOf(side: Side, name: string): Any {
  const stable = `handle ${name}`;
  if (!side.types.has(stable)) side.types.set(stable, ref(side, 2, `${name} handle`));
  return side.types.get(stable);
}

function typeOf(side: Side, spec: Spec): Any {
  if (!('name' in spec)) throw new Error('no name');
  let type = side.types.get(spec.name);
  if (type !== undefined) return type;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are elements
  switch (spec.t) {
    case 'f':
      type = functionOf(side, spec);
      if (spec.wrap === 'memo') type = React.memo(type);
      else if (spec.wrap === 'compare') type = React.memo(type, (a: Any, b: Any) => a.v === b.v);
      else if (spec.wrap === 'forward') type = React.forwardRef(type);
      else if (spec.wrap === 'lazy') {
        const inner = type;
        const later = side.promises[spec.waits < 0 ? 0 : spec.waits]!;
        type = React.lazy(
          () => ({ then: (ok: Any, no: Any) => later.then(() => ok({ default: inner }), no) }) as Any,
        );
      }
      break;
    case 'c':
      type = classOf(side, spec);
      break;
    case 'p':
      type = providerOf(side, spec);
      break;
    default:
      throw new Error(spec.t);
  }
  side.types.set(spec.name, type);
  return type;
}

function register(side: Side, name: string, set: (value: unknown) => void): void {
  React.useInsertionEffect(() => {
    side.setters.set(name, set);
    return () => {
      if (side.setters.get(name) === set) side.setters.delete(name);
    };
  }, []);
}

function useEffects(side: Side, spec: Extract<Spec, { t: 'f' }>, state: number, v: number): void {
  spec.effects.forEach(({ kind, deps, fails }, index) => {
    const use =
      kind === 'e' ? React.useEffect : kind === 'l' ? React.useLayoutEffect : React.useInsertionEffect;
    const label = `${kind}${index} ${spec.name}`;
    use(
      () => {
        side.note(`+${label} ${state} ${v}`);
        if (fails && state === 3) throw new Error(`effect ${label}`);
        return () => {
          side.note(`-${label} ${state} ${v}`);
        };
      },
      deps === 0 ? undefined : deps === 1 ? [] : deps === 2 ? [state] : [v],
    );
  });
}

function functionOf(side: Side, spec: Extract<Spec, { t: 'f' }>): Any {
  const { name } = spec;
  return function Component({ v }: { v: number }, forwarded: Any) {
    const [state, set] = spec.reducer
      ? React.useReducer(
          (before: number, action: Any) => (typeof action === 'function' ? action(before) : action),
          0,
        )
      : React.useState(0);
    register(side, name, set as Any);
    let shown: number = state;
    if (spec.wrap === 'forward') React.useImperativeHandle(forwarded, () => ({ name }), [state]);
    if (spec.context >= 0) shown += React.useContext(side.contexts[spec.context]!);
    if (spec.store)
      shown += React.useSyncExternalStore(
        (listener) => {
          side.note(`+store ${name}`);
          side.listeners.add(listener);
          return () => {
            side.note(`-store ${name}`);
            side.listeners.delete(listener);
          };
        },
        () => side.store,
      );
    if (spec.deferred) shown += React.useDeferredValue(state) * 2;
    if (spec.transition) {
      const [pending, start] = React.useTransition();
      React.useInsertionEffect(() => {
        side.starts.set(name, start);
        return () => {
          side.starts.delete(name);
        };
      }, []);
      shown += pending ? 5 : 0;
    }
    const memo = React.useMemo(() => ({ v }), [v]);
    const held = React.useRef(0);
    useEffects(side, spec, state, v);
    React.useLayoutEffect(() => {
      held.current++;
      if (spec.layoutSet && state === 2 && side.budget-- > 0) (set as Any)(1);
    });
    React.useEffect(() => {
      if (spec.passiveSet && state === 1 && side.budget-- > 0) (set as Any)((s: number) => s + 1);
    }, [state]);
    if (spec.renderSet && state === 3) (set as Any)(0);
    if (spec.fails === state + 1) throw new Error(`render ${name}`);
    if (spec.waits >= 0 && spec.wrap !== 'lazy' && state === spec.waitsAt) {
      const promise = side.promises[spec.waits] as Any;
      if (spec.uses) React.use(promise);
      else if (promise.state === 'failed') throw promise.result;
      else if (promise.state === 'waiting') throw promise;
    }
    return h(
      'sluice-widget',
      { text: `${name}:${shown}:${memo.v}` },
      children(side, spec.kids, state, (state + v) % 4) as Any,
    );
  };
}

function classOf(side: Side, spec: Extract<Spec, { t: 'c' }>): Any {
  const { name } = spec;
  class Component extends (spec.pure ? React.PureComponent : React.Component)<
    { v: number },
    { n: number; error: boolean }
  > {
    static override contextType = spec.context < 0 ? undefined : side.contexts[spec.context];
    override state = { n: 0, error: false };
    private readonly assign = (value: unknown): void => {
      this.setState(
        ({ n }) => ({ n: (typeof value === 'function' ? (value as Any)(n) : value) as number, error: false }),
        () => side.note(`callback ${name} ${this.state.n}`),
      );
    };

    override componentDidMount(): void {
      side.setters.set(name, this.assign);
      side.note(`didMount ${name} ${this.state.n}`);
      if (spec.fails === 3) throw new Error(`didMount ${name}`);
    }

    override componentDidUpdate(before: { v: number }, state: { n: number }, snapshot: unknown): void {
      side.note(
        `didUpdate ${name} ${before.v}>${this.props.v} ${state.n}>${this.state.n} ${String(snapshot)}`,
      );
      if (spec.updates && this.state.n === 2 && side.budget-- > 0) this.setState({ n: 3 });
    }

    override componentWillUnmount(): void {
      side.note(`willUnmount ${name} ${this.state.n}`);
      if (side.setters.get(name) === this.assign) side.setters.delete(name);
      if (spec.fails === 4) throw new Error(`willUnmount ${name}`);
    }

    override render(): React.ReactNode {
      const { n, error } = this.state;
      if (spec.fails === 1 && n === 1) throw new Error(`render ${name}`);
      const context = spec.context < 0 ? '' : String(this.context);
      return h(
        'sluice-widget',
        { text: `${name}:${n}:${this.props.v}:${context}` },
        error ? h('sluice-widget', { text: 'error' }) : (children(side, spec.kids, n, this.props.v) as Any),
      );
    }
  }
  const type = Component as Any;
  if (spec.context < 0) delete type.contextType;
  if (spec.derives)
    type.getDerivedStateFromProps = (props: { v: number }, state: { n: number }) =>
      props.v === 3 && state.n === 0 ? { n: 1 } : null;
  if (spec.should)
    type.prototype.shouldComponentUpdate = (_props: unknown, state: { n: number }) => state.n !== 3;
  if (spec.snapshot)
    type.prototype.getSnapshotBeforeUpdate = (before: { v: number }) => {
      side.note(`snapshot ${name} ${before.v}`);
      return `s${before.v}`;
    };
  if ((spec.boundary & 1) !== 0) type.getDerivedStateFromError = () => ({ error: true });
  if ((spec.boundary & 2) !== 0)
    type.prototype.componentDidCatch = function (this: Any, error: Error) {
      side.note(`didCatch ${name} ${error.message.startsWith('M') ? '' : error.message}`);
      this.setState({ error: true });
    };
  return type;
}

function providerOf(side: Side, spec: Extract<Spec, { t: 'p' }>): Any {
  return function Provider({ v }: { v: number }) {
    const [state, set] = React.useState(0);
    register(side, spec.name, set as Any);
    const kept = React.useRef<unknown>(null);
    // The same children while the state changes: only the context tells them.
    const kids = React.useMemo(() => children(side, spec.kids, v, v), [v]);
    kept.current = kids;
    const Context = side.contexts[spec.context] as Any;
    return h(
      Context,
      { value: state },
      kids as Any,
      spec.consumes
        ? h(Context.Consumer, null, ((value: number) => h('sluice-widget', { text: `c${value}` })) as Any)
        : null,
    );
  };
}

export { element };
