/** Calls the hooks that a description lists, in its order, and returns what each shows. */

import type { ReactNode } from 'react';
import type { Hook } from './description.ts';
import { shown } from './build.ts';
import { actionOf, propsOf, valueOf } from './values.ts';
import { errorOf, type World } from './world.ts';

type Call = (...args: unknown[]) => unknown;

export function useHooks(hooks: readonly Hook[], world: World): ReactNode[] {
  return hooks.map((hook) => useOne(hook, world));
}

function useOne(hook: Hook, world: World): ReactNode {
  const { React, ReactDOM } = world;
  switch (hook.h) {
    case 'state':
      return useUpdatedState(hook, world);
    case 'reducer': {
      const [value, dispatch] = React.useReducer(
        (state: number, by: number) => state * 2 + by,
        hook.start,
        hook.init ? (start: number) => start + 100 : (undefined as never),
      );
      const done = React.useRef(0);
      const by = hook.dispatches[done.current];
      if (by !== undefined) {
        done.current += 1;
        dispatch(by);
      }
      return `${value};`;
    }
    case 'id':
      return React.createElement('label', { htmlFor: React.useId() }, 'id');
    case 'memo': {
      const [count, setCount] = React.useState(0);
      if (count < 1) setCount(count + 1);
      const computed = React.useRef(0);
      const deps = { none: undefined, empty: [], changing: [count] }[hook.deps];
      const value = React.useMemo(() => (computed.current += 1), deps as never);
      return `memo ${value}`;
    }
    case 'ref': {
      const ref = React.useRef<number | null>(null);
      ref.current = (ref.current ?? 0) + 1;
      return ref.current;
    }
    case 'callback': {
      const callback = React.useCallback(() => 'called', []);
      return callback();
    }
    case 'deferred': {
      const defer = React.useDeferredValue as Call;
      return shown(hook.initial ? defer('later', 'first') : defer('later'));
    }
    case 'transition': {
      const [pending, start] = React.useTransition();
      if (hook.start) start(() => undefined);
      return String(pending);
    }
    case 'optimistic': {
      const found = optional(React, 'useOptimistic');
      if (found === undefined) return null;
      const [value, add] = found('hoped', () => 'x') as [string, Call];
      if (hook.update) add('y');
      return value;
    }
    case 'action-state':
      return useForm(hook, world);
    case 'form-status': {
      const status = optional(ReactDOM, 'useFormStatus')?.() as { pending: boolean } | undefined;
      return status === undefined ? null : Object.entries(status).map(([name, value]) => `${name}=${value} `);
    }
    case 'store':
      return React.useSyncExternalStore(
        () => () => undefined,
        () => 'client',
        hook.server ? () => 'server' : undefined,
      );
    case 'context': {
      const context = world.contexts[hook.context];
      const read = hook.through === 'use' ? optional(React, 'use') : undefined;
      return `[${shown(read === undefined ? React.useContext(context as never) : read(context))}]`;
    }
    case 'use':
      return shown(optional(React, 'use')?.(world.turns[hook.promise]?.promise));
    case 'use-settled': {
      // oxlint-disable unicorn/no-thenable -- what libraries hand to `use` when they have the value already
      const settled =
        hook.status === 'fulfilled'
          ? { status: 'fulfilled', value: 'at once', then: () => undefined }
          : { status: 'rejected', reason: errorOf('rejected before'), then: () => undefined };
      // oxlint-enable unicorn/no-thenable
      return shown(optional(React, 'use')?.(settled));
    }
    case 'effects':
      React.useEffect(() => undefined);
      React.useLayoutEffect(() => undefined, []);
      React.useInsertionEffect(() => undefined);
      React.useImperativeHandle<number, number>(undefined, () => 1);
      React.useDebugValue('debug');
      return null;
    case 'effect-event': {
      const event = optional(React, 'useEffectEvent')?.(() => 'event') as Call | undefined;
      return hook.call ? shown(event?.()) : null;
    }
    case 'memo-cache': {
      const runtime = React['__COMPILER_RUNTIME'] as { c?: (size: number) => unknown[] } | undefined;
      const slots = runtime?.c?.(2);
      return slots === undefined ? null : `slots ${slots.length} ${typeof slots[0]}`;
    }
    case 'cache': {
      const cache = optional(React, 'cache');
      if (cache === undefined) return null;
      let calls = 0;
      const cached = cache(() => (calls += 1)) as () => number;
      return `${cached()}${cached()}`;
    }
    case 'endless': {
      const [count, setCount] = React.useState(0);
      setCount(count + 1);
      return count;
    }
    case 'more-hooks': {
      const [again, setAgain] = React.useState(false);
      if (!again) setAgain(true);
      // eslint-disable-next-line react-hooks/rules-of-hooks -- breaking the rule is what is tried
      else React.useState(1);
      return 'more';
    }
    case 'browser': {
      const browser = optional(ReactDOM, 'browser');
      return browser === undefined ? null : shown(optional(React, 'use')?.(browser('only there')));
    }
    case 'hint':
      optional(ReactDOM, hook.call)?.(hook.href, propsOf(hook.options));
      return null;
  }
}

/** Sets the state while rendering, which runs the component again. */
function useUpdatedState(hook: Hook & { h: 'state' }, { React }: World): ReactNode {
  const first = valueOf(hook.v);
  const [value, setValue] = React.useState<unknown>(
    hook.lazy || typeof first === 'function' ? () => first : first,
  );
  const [count, setCount] = React.useState(0);
  if (count < hook.updates) {
    setCount((before) => before + 1);
    setValue((before: unknown) => `${shown(before)}+${count}`);
  }
  return shown(value);
}

function useForm(hook: Hook & { h: 'action-state' }, { React, ReactDOM }: World): ReactNode {
  const use = optional(React, 'useActionState') ?? optional(ReactDOM, 'useFormState');
  if (use === undefined) return null;
  const action = actionOf(hook.action);
  const [state, submit] = (
    hook.permalink === null ? use(action, 'at first') : use(action, 'at first', hook.permalink)
  ) as [unknown, Call];
  return hook.form
    ? React.createElement(
        'form',
        { action: submit as never },
        shown(state),
        React.createElement('button', null),
      )
    : shown(state);
}

/** A hook or function that not every React has. */
function optional(library: object, name: string): Call | undefined {
  const found: unknown =
    (library as Record<string, unknown>)[name] ?? (library as Record<string, unknown>)[`unstable_${name}`];
  return valueIsFunction(found) ? found : undefined;
}

function valueIsFunction(value: unknown): value is Call {
  return typeof value === 'function';
}
