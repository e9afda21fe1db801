/** Preact 10 and 11 in the browser. */
import {
  type ComponentChild,
  type ComponentType,
  type VNode,
  h,
  hydrate as hydrateTree,
  options,
  render,
} from 'preact';
import type { BrowserAdapter, Mounted, MountRequest, SlotContents } from '../adapter.js';

const SLOT_TAG = 'sluice-slot';

// Preact leaves the content of elements with `dangerouslySetInnerHTML` alone while it hydrates, and later while it is the same.
const LEFT_ALONE = { __html: '' };
const DEFAULT_SLOT = 'default';

function slotProps(slots: SlotContents): Record<string, ComponentChild> {
  const props: Record<string, ComponentChild> = {};
  for (const name of slots.names) {
    const adopted = (element: Element | null): void => {
      if (element !== null) slots.adopt(name, element);
    };
    props[name === DEFAULT_SLOT ? 'children' : name] = h(SLOT_TAG, {
      n: name,
      ref: adopted,
      dangerouslySetInnerHTML: LEFT_ALONE,
    });
  }
  return props;
}

/** Hook of the diff's end, before refs and effects; addons of Preact rely on this name as well. */
interface Hooks {
  __c?: (root: VNode, queue: unknown[]) => void;
}

/**
 * Finds a difference that Preact repairs without a word. It compares the text and elements that come or go, up to the
 * commit: what changes afterwards, the component's own effects have changed. Texts may be split, as HTML joins them.
 */
function differenceIn(box: HTMLElement, hydrateNow: () => void): string | undefined {
  const observer = new MutationObserver(() => undefined);
  const hooks = options as Hooks;
  const before = hooks.__c;
  const text = box.textContent;
  let changed: Element | undefined;
  let textAtCommit: string | null = text;
  hooks.__c = (root, queue) => {
    changed ??= changedIn(observer.takeRecords());
    textAtCommit = box.textContent;
    observer.disconnect();
    before?.(root, queue);
  };
  observer.observe(box, { childList: true, subtree: true });
  try {
    hydrateNow();
  } finally {
    observer.disconnect();
    if (before === undefined) delete hooks.__c;
    else hooks.__c = before;
  }
  if (changed !== undefined) return `<${changed.localName}> came or went`;
  return textAtCommit === text ? undefined : 'the text changed';
}

function changedIn(records: readonly MutationRecord[]): Element | undefined {
  const nodes = records.flatMap(({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes]);
  return nodes.find((node): node is Element => node instanceof Element);
}

function mount({ view, props, box, slots, hydrate, onMismatch }: MountRequest): Mounted {
  const all = { ...props, ...slotProps(slots) };
  const tree = (of: unknown): VNode => h(of as ComponentType<Record<string, unknown>>, all);
  if (hydrate) {
    const difference = differenceIn(box, () => hydrateTree(tree(view), box));
    if (difference !== undefined) onMismatch(new Error(`Preact changed the server's HTML: ${difference}`));
  } else {
    box.replaceChildren();
    render(tree(view), box);
  }
  return {
    update: (_module, changed) => render(tree(changed), box),
    unmount: () => render(null, box),
  };
}

const preact: BrowserAdapter = { mount };
export default preact;
