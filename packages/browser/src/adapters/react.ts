/** React 18.3 and 19 in the browser. */
import {
  type ComponentType,
  type ReactNode,
  type RefCallback,
  createElement,
  memo,
  startTransition,
  useLayoutEffect,
} from 'react';
import { flushSync } from 'react-dom';
import { type Root, createRoot, hydrateRoot } from 'react-dom/client';
import type { BrowserAdapter, Mounted, MountRequest, SlotContents } from '../adapter.js';

const SLOT_TAG = 'sluice-slot';

// The same object each time: React sets `innerHTML` again for another one, and the content would be gone.
const LEFT_ALONE = { __html: '' };

/** Never rendered again, and its content is not looked at while it is hydrated: it belongs to other boxes. */
const Slot = memo(
  ({ name, adopted }: { name: string; adopted: RefCallback<Element> }) =>
    createElement(SLOT_TAG, {
      n: name,
      ref: adopted,
      dangerouslySetInnerHTML: LEFT_ALONE,
      suppressHydrationWarning: true,
    }),
  () => true,
);

const DEFAULT_SLOT = 'default';

function slotProps(slots: SlotContents): Record<string, ReactNode> {
  const props: Record<string, ReactNode> = {};
  for (const name of slots.names) {
    const adopted = (element: Element | null): void => {
      if (element !== null) slots.adopt(name, element);
    };
    props[name === DEFAULT_SLOT ? 'children' : name] = createElement(Slot, { name, adopted });
  }
  return props;
}

/** Its effect runs once the component's own have, and its events work. */
function Committed({ children, done }: { children?: ReactNode; done: () => void }): ReactNode {
  useLayoutEffect(done, [done]);
  return children;
}

function mount({
  view,
  props,
  box,
  id,
  slots,
  hydrate,
  onMismatch,
  onError,
}: MountRequest): Promise<Mounted> {
  const all = { ...props, ...slotProps(slots) };
  return new Promise((resolve, reject) => {
    let root: Root | undefined;
    let isMounted = false;
    const element = (of: unknown): ReactNode =>
      createElement(Committed, { done }, createElement(of as ComponentType<Record<string, unknown>>, all));
    const done = (): void => {
      if (isMounted) return;
      isMounted = true;
      // React has not returned the root yet while it is in `hydrateRoot`.
      queueMicrotask(() => resolve({ update: (_module, changed) => root?.render(element(changed)) }));
    };
    const options = {
      identifierPrefix: id,
      onRecoverableError: onMismatch,
      onUncaughtError: (error: unknown): void => (isMounted ? onError(error) : reject(error as Error)),
    };
    if (hydrate) {
      // In one go, so that no event comes between the look at the fields and the component that takes them over.
      flushSync(() => {
        root = hydrateRoot(box, element(view), options);
      });
      return;
    }
    root = createRoot(box, options);
    // A transition leaves the placeholder in place while the component waits for something.
    startTransition(() => root?.render(element(view)));
  });
}

const react: BrowserAdapter = { mount };
export default react;
