/**
 * Preact 10 and 11, by preact-render-to-string. Components render synchronously; those that wait for data are rendered as
 * those of React are. It must not know pages.
 */
import {
  Component,
  createElement,
  Fragment,
  options,
  type Attributes,
  type ComponentType,
  type VNode,
} from 'preact';
import { renderToString, renderToStringAsync } from 'preact-render-to-string';
import type { Props } from '../component.js';
import { messageOf } from '../thrown.js';
import type { Adapter, RenderContext } from './adapter.js';
import { Resumptions } from './resumptions.js';
import { SLOT_TAG } from './slot.js';

interface SlotProps extends Attributes {
  readonly n: string;
  readonly dangerouslySetInnerHTML: { readonly __html: string };
}

export function preact(): Adapter {
  /** Views whose latest render waited for data: `lazy`, or a promise that was thrown. */
  const waiting = new WeakSet<object>();
  watchResumptions();
  return {
    name: 'preact',
    recognises: isPreactComponent,
    render(view, props, context) {
      const element = (): VNode =>
        createElement(view as ComponentType, { ...props, ...slotElements(context) });
      if (!waiting.has(view as object)) {
        try {
          return renderToString(element());
        } catch (thrown) {
          if (!isSuspension(thrown)) throw thrown;
        }
      }
      return renderWhole(element(), context, (hasWaited) => {
        if (hasWaited) waiting.add(view as object);
        else waiting.delete(view as object);
      });
    },
  };
}

/** Classes, and what `forwardRef` of preact/compat makes, are marked. Async functions are none: Preact shows nothing for them. */
function isPreactComponent(view: unknown): boolean | 'perhaps' {
  if (typeof view !== 'function' || Object.prototype.toString.call(view) === '[object AsyncFunction]')
    return false;
  return view.prototype instanceof Component || '$$typeof' in view || 'perhaps';
}

/** Whether it is what the synchronous renderer throws in place of the promise that it met. */
function isSuspension(thrown: unknown): boolean {
  return messageOf(thrown).includes('renderToStringAsync');
}

/** Renders that may resume, by the element at their root. */
const renders = new WeakMap<object, Resumptions>();

async function renderWhole(
  element: VNode,
  { signal }: RenderContext,
  note: (hasWaited: boolean) => void,
): Promise<string> {
  // Promises are waited for by the component around the one that throws them, so that the outermost needs one as well.
  const root = createElement(Fragment, null, element);
  const rendering = renderToStringAsync(root);
  const resumptions = new Resumptions(signal);
  renders.set(root, resumptions);
  try {
    return await rendering;
  } finally {
    note(resumptions.hasBegun);
  }
}

/** Parts of Preact that its types leave out, by their names in published builds. */
interface RenderHooks {
  /** Called before each call of a component. */
  __r?: (vnode: Descendant) => void;
}

interface Descendant {
  readonly __?: Descendant | null;
}

let isWatching = false;

/**
 * Lets the event loop turn between resumptions: preact-render-to-string calls a component that throws settled promises from
 * microtask to microtask. A promise that is thrown before the component is called puts it off.
 */
function watchResumptions(): void {
  if (isWatching) return;
  isWatching = true;
  const hooks = options as RenderHooks;
  const before = hooks.__r;
  hooks.__r = (vnode) => {
    const pause = resumptionsOf(vnode)?.next();
    // oxlint-disable-next-line typescript/only-throw-error -- so a component of Preact waits
    if (pause !== undefined) throw pause;
    before?.(vnode);
  };
}

/** Undefined for renders that are not this adapter's, and for the part of one that is synchronous. */
function resumptionsOf(vnode: Descendant): Resumptions | undefined {
  let each: Descendant | null | undefined = vnode;
  while (each) {
    const found = renders.get(each);
    if (found !== undefined) return found;
    each = each.__;
  }
  return undefined;
}

/** Slots are props: the default one is `children`, the others have their names. */
function slotElements({ slots }: RenderContext): Props {
  return Object.fromEntries(slots.names.map((name) => [name === 'default' ? 'children' : name, slot(name)]));
}

function slot(name: string): VNode<SlotProps> {
  return createElement<SlotProps>(SLOT_TAG, { key: name, n: name, dangerouslySetInnerHTML: { __html: '' } });
}
