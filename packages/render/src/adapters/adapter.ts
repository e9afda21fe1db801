/**
 * Duties of a framework that is rendered here. It must not know registries, tasks or pages: an adapter turns one
 * component with props into HTML.
 */
import type { Props } from '../component.js';

/** HTML that is put into a component where it shows its slot; made by other tasks, perhaps later. */
export interface Slots {
  /** The names of slots that have content. */
  readonly names: readonly string[];
  /** HTML that stands for the slot's content, and is replaced by it when it is there. Always `slotHtml(name)` of `slot.ts`. */
  readonly html: (name: string) => string;
}

/** A view that has this property is rendered by the adapter there, and by no other. */
export const OWN_ADAPTER = Symbol.for('sluice.adapter');

/** Facts for a render beside its props. */
export interface RenderContext {
  /** Unique in the document: prefixes ids that the framework makes up (`useId`), the same in the browser. */
  readonly id: string;
  readonly slots: Slots;
  /** Aborted when nobody waits for the HTML any more: late, or the client has left. */
  readonly signal: AbortSignal;
  /** The browser never hydrates this HTML, so the marks that hydration needs may be left out. Default: false. */
  readonly isStatic?: boolean;
  /** Called by an adapter whose HTML lacks a part that has failed, which the browser renders: no cache keeps such HTML. */
  tellPartial?(): void;
}

export interface Adapter {
  /** Name, which is also that of the browser's half: `@sluice/browser/react`. */
  readonly name: string;
  /**
   * The HTML has its own markup for the browser, with the props that it was rendered with. No fragment adds props to it: those that it was
   * asked with may have more than the component's schema allows. Default: false.
   */
  readonly hasOwnMarkup?: boolean;
  /**
   * Whether `view` is a component of this framework: `true` by a mark that only its components have, `'perhaps'` for what may as
   * well be another's, such as a bare function. The order of adapters means nothing.
   */
  recognises(view: unknown): boolean | 'perhaps';
  /**
   * The component's HTML, without a root element of the adapter's own. Synchronous where the framework can: then its
   * CPU time is exact. Throws, or rejects, what the component threw.
   */
  render(view: unknown, props: Props, context: RenderContext): string | Promise<string>;
}
