/** Preact 10 and 11, by preact-render-to-string. It must not know pages. */
import { createElement, type Attributes, type ComponentType, type VNode } from 'preact';
import { renderToString, renderToStringAsync } from 'preact-render-to-string';
import type { Props } from '../component.js';
import type { Adapter, RenderContext } from './adapter.js';
import { SLOT_TAG } from './slot.js';

interface SlotProps extends Attributes {
  readonly n: string;
  readonly dangerouslySetInnerHTML: { readonly __html: string };
}

export function preact(): Adapter {
  /** Views that have waited for data once: `lazy`, or a promise that was thrown. */
  const waiting = new WeakSet<object>();
  return {
    name: 'preact',
    recognises: (view) => typeof view === 'function',
    render(view, props, context) {
      const node = createElement(view as ComponentType, { ...props, ...slotElements(context) });
      if (waiting.has(view as object)) return renderToStringAsync(node);
      try {
        return renderToString(node);
      } catch (thrown) {
        if (!isSuspension(thrown)) throw thrown;
        waiting.add(view as object);
        return renderToStringAsync(node);
      }
    },
  };
}

/** What the synchronous renderer throws in place of the promise that it met. */
function isSuspension(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes('renderToStringAsync');
}

/** Slots are props: the default one is `children`, the others have their names. */
function slotElements({ slots }: RenderContext): Props {
  return Object.fromEntries(slots.names.map((name) => [name === 'default' ? 'children' : name, slot(name)]));
}

function slot(name: string): VNode<SlotProps> {
  return createElement<SlotProps>(SLOT_TAG, { key: name, n: name, dangerouslySetInnerHTML: { __html: '' } });
}
