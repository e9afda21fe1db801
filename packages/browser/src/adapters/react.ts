/** React 18.3 and 19 in the browser. */
import {
  Component,
  type ComponentType,
  type ReactNode,
  type RefCallback,
  createElement,
  memo,
  startTransition,
} from 'react';
import { flushSync } from 'react-dom';
import { type Root, createRoot, hydrateRoot } from 'react-dom/client';
import type { BrowserAdapter, Mounted, MountRequest, SlotContents } from '../adapter.js';

const SLOT_TAG = 'sluice-slot';

// The same object each time: React sets `innerHTML` again for another one, and the content would be gone.
const LEFT_ALONE = { __html: '' };

/** Slot that is never rendered again, and whose content is left alone while it is hydrated: it belongs to other boxes. */
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

interface RootProps {
  readonly children?: ReactNode;
  readonly onCommit: () => void;
  readonly onError: (error: unknown) => void;
}

/** Around the component, because React 18 has no other way to say that it threw. Shows nothing then, as React does. */
class ComponentRoot extends Component<RootProps, { readonly hasFailed: boolean }> {
  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override state = { hasFailed: false };

  override componentDidMount(): void {
    // The component's own effects have run, and its events work.
    if (!this.state.hasFailed) this.props.onCommit();
  }

  override componentDidCatch(error: unknown): void {
    this.props.onError(error);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}

export interface ReactOptions {
  /** Component around each box; the same that the server's adapter has. Default: none. */
  readonly wrap?: ComponentType<{ readonly children: ReactNode }> | undefined;
}

function mount(
  { wrap }: ReactOptions,
  { view, props, box, id, slots, hydrate, onMismatch, onError }: MountRequest,
): Promise<Mounted> {
  const all = { ...props, ...slotProps(slots) };
  return new Promise((resolve, reject) => {
    let root: Root | undefined;
    let isMounted = false;
    let changes = 0;
    const rootProps: RootProps = {
      onCommit() {
        isMounted = true;
        // React has not returned the root yet while it is in `hydrateRoot`.
        queueMicrotask(() => resolve({ update, unmount: () => root?.unmount() }));
      },
      onError: (error) => (isMounted ? onError(error) : reject(error)),
    };
    const element = (of: unknown): ReactNode => {
      const own = createElement(of as ComponentType<Record<string, unknown>>, all);
      const wrapped = wrap === undefined ? own : createElement(wrap, null, own);
      return createElement(ComponentRoot, { ...rootProps, key: changes }, wrapped);
    };
    const update = (_module: unknown, changed: unknown): void => {
      // Another root, which has not failed.
      changes += 1;
      root?.render(element(changed));
    };
    const options = { identifierPrefix: id, onRecoverableError: onMismatch };
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

/** The adapter with options, for a module of the app's own that the Vite plugin's `adapters` names. */
export function react(options: ReactOptions = {}): BrowserAdapter {
  return { mount: (request) => mount(options, request) };
}

export default react();
