/** The `componentStack` of `onError`: one line for each component, innermost first, with the place in its source where it can be found. */
import { profile } from '../facts/profile.js';
import type { StackNode } from './paths.js';
import { FORWARD_REF, LAZY, MEMO, SUSPENSE, SUSPENSE_LIST, VIEW_TRANSITION } from '../facts/react.js';

interface DescribedType {
  readonly $$typeof?: symbol;
  readonly name?: unknown;
  readonly displayName?: string;
  readonly render?: Component;
  readonly type?: Component;
  readonly _payload?: unknown;
  readonly _init?: (payload: unknown) => unknown;
}

type Component = ((...args: unknown[]) => unknown) & { displayName?: string };

export function describeStack(stack: StackNode): string {
  try {
    let text = '';
    for (let node: StackNode | null = stack; node !== null; node = node.parent) text += describe(node.type);
    return text;
  } catch (error) {
    const { message, stack: trace } = error as Error;
    return `\nError generating stack: ${message}\n${trace}`;
  }
}

function describe(type: unknown): string {
  if (typeof type === 'string') return line(type);
  if (typeof type === 'function') {
    const { prototype } = type as { prototype?: { isReactComponent?: unknown } };
    return sourceLine(type as Component, Boolean(prototype?.isReactComponent));
  }
  if (type === SUSPENSE) return line('Suspense');
  if (type === SUSPENSE_LIST) return line('SuspenseList');
  if (type === VIEW_TRANSITION && profile.viewTransitions === 'animate') return line('ViewTransition');
  if (typeof type !== 'object' || type === null) return '';
  const described = type as DescribedType;
  switch (described.$$typeof) {
    case FORWARD_REF:
      return sourceLine(described.render, false);
    case MEMO:
      return sourceLine(described.type, false);
    case LAZY:
      try {
        return describe(described._init?.(described._payload));
      } catch {
        return line('Lazy');
      }
    case undefined:
    default:
      return typeof described.name === 'string' ? line(described.name) : '';
  }
}

function line(name: string): string {
  return `\n    at ${name} (<anonymous>)`;
}

let searching = false;

/**
 * Finds the line of a component. A function does not tell where it is written, but an error thrown in it does. It is called so that it
 * fails early, and the trace is compared with one that failed right outside.
 */
function sourceLine(component: Component | undefined, isClass: boolean): string {
  if (!component || searching) return '';
  searching = true;
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, frames) =>
    // oxlint-disable-next-line typescript/no-base-to-string -- frames have a toString of their own
    `${error.name || 'Error'}: ${error.message || ''}${frames.map((frame) => `\n    at ${frame.toString()}`).join('')}`;
  try {
    const [sample, control] = DetermineComponentFrameRoot(component, isClass);
    const frame = sample === null || control === null ? null : firstDifference(sample, control);
    if (frame !== null) {
      const { displayName } = component;
      return displayName && frame.includes('<anonymous>') ? frame.replace('<anonymous>', displayName) : frame;
    }
  } finally {
    searching = false;
    Error.prepareStackTrace = prepare;
  }
  const name = component.displayName || component.name;
  return name ? line(name) : '';
}

type Trace = string | null;

/** Makes both traces, in which the name of this function marks the component's frame. */
function DetermineComponentFrameRoot(component: Component, isClass: boolean): [Trace, Trace] {
  let control: Error | null = null;
  try {
    if (isClass) {
      const Fake = function Fake(): never {
        throw new Error();
      };
      Object.defineProperty(Fake.prototype, 'props', {
        set() {
          throw new Error();
        },
      });
      try {
        Reflect.construct(Fake, []);
      } catch (error) {
        control = error as Error;
      }
      Reflect.construct(component, [], Fake);
    } else {
      try {
        throw new Error();
      } catch (error) {
        control = error as Error;
      }
      const result = component() as Promise<unknown> | undefined;
      if (result && typeof result.catch === 'function') result.catch(() => undefined);
    }
  } catch (sample) {
    const { stack } = (sample ?? {}) as Error;
    if (control !== null && typeof stack === 'string') return [stack, control.stack ?? null];
  }
  return [null, null];
}

function firstDifference(sampleTrace: string, controlTrace: string): string | null {
  const sample = sampleTrace.split('\n');
  const control = controlTrace.split('\n');
  const isRoot = (text: string): boolean => text.includes('DetermineComponentFrameRoot');
  let s = sample.findIndex(isRoot);
  let c = control.findIndex(isRoot);
  if (s < 0 || c < 0) {
    s = sample.length - 1;
    c = control.length - 1;
    while (s >= 1 && c >= 0 && sample[s] !== control[c]) c -= 1;
  }
  while (s >= 1 && c >= 0 && sample[s] === control[c]) {
    s -= 1;
    c -= 1;
  }
  if (s < 1 || c < 0 || (s === 1 && c === 1)) return null;
  do {
    s -= 1;
    c -= 1;
    if (c < 0 || sample[s] !== control[c]) return `\n${(sample[s] ?? '').replace(' at new ', ' at ')}`;
  } while (s >= 1 && c >= 0);
  return null;
}
