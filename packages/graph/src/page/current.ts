/** Model of the page that is rendered or shown. It must not know React, Node.js or documents. */
import type { Model } from '../model/model.js';
import type { PathInput } from '../types.js';

/** Page that is rendered or shown. */
export interface GraphPage {
  readonly model: Model;
  /** Notes that a component has asked a view of the model for values; absent where nobody wants to know. */
  noteRead?(model: Model, paths: readonly PathInput[]): void;
}

/** Place where server and browser say which page it is. The number changes with the shape. */
const CURRENT = Symbol.for('sluice.graph.page.1');

interface Holder {
  [CURRENT]?: () => GraphPage | undefined;
}

/** Models whose state is on its way in the document. */
const states = new WeakMap<Model, Promise<void>>();

/** Page of the code that runs, if one was set. */
export function currentPage(): GraphPage | undefined {
  return (globalThis as Holder)[CURRENT]?.();
}

/** Says how the page is found. Copies of this package share it. */
export function setCurrentPage(page: () => GraphPage | undefined): void {
  (globalThis as Holder)[CURRENT] = page;
}

/** Makes components wait for the state of a model instead of asking for it. */
export function awaitState(model: Model, state: Promise<void>): void {
  states.set(model, state);
  void state.then(() => states.delete(model));
}

/** Resolves when the state of the model has come; undefined if none is on its way. */
export function stateOnItsWay(model: Model): Promise<void> | undefined {
  return states.get(model);
}
