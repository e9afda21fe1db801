/// <reference lib="dom" />
/** `@sluice/graph/browser`: the graph of a page in the browser. */
import { Model, type ModelOptions } from '../model/model.js';
import { heldNoted } from '../seeing/held.js';
import type { JsonGraph } from '../types.js';
import { awaitState, setCurrentPage } from './current.js';
import { Quiet } from './quiet.js';
import { COUNTED, STATE_ATTRIBUTE } from './state.js';

export { type HttpDataSource, httpSource, type HttpSourceOptions } from '../wire/source.js';

/**
 * Makes the model of the page's components, which starts with what the server has read for them. Components ask for what is missing only.
 * While the document is still on its way they wait for the state at its end. A page that `@sluice/browser/navigate` shows in this document
 * brings its state as well: it replaces older values, before the components of that page run. Nothing of it is taken where the app or a call has
 * invalidated values since the page was asked for, as these may be in it: components ask then.
 */
export function startGraph(options: Omit<ModelOptions, 'cache'>): Model {
  const quiet = new Quiet((look) => setTimeout(look));
  const { source } = options;
  let state: Model | undefined;
  const whole = new Model(
    source === undefined ? options : { ...options, source: heldNoted(source, () => state) },
  );
  const model = whole.batch((send) => quiet.await(send));
  let [moment, invalidations] = [0, 0];
  /** Takes the state of scripts that have arrived. Returns false while more may come. */
  const take = (): boolean => {
    const isLoading = document.readyState === 'loading';
    const scripts = Array.from(document.querySelectorAll(`script[${STATE_ATTRIBUTE}]`));
    const whole = isLoading ? scripts.filter(isPast) : scripts;
    // What the page before had is of no interest any more.
    if (whole.length > 0) state = undefined;
    for (const script of whole) {
      const counted = script.getAttribute(STATE_ATTRIBUTE) === COUNTED;
      script.removeAttribute(STATE_ATTRIBUTE);
      try {
        const jsonGraph = JSON.parse(script.textContent) as JsonGraph;
        if (model.getInvalidations() === invalidations) model.merge({ jsonGraph }, moment);
        if (counted) (state ??= new Model()).merge({ jsonGraph });
      } catch (error) {
        // The document broke off in it: components ask for their values.
        console.error('The state of the graph cannot be read:', error);
      }
    }
    return !isLoading || (whole.length > 0 && whole.length === scripts.length);
  };
  if (!take()) {
    awaitState(
      model,
      new Promise((resolve) => {
        const loaded = (): void => {
          take();
          resolve();
        };
        document.addEventListener('DOMContentLoaded', loaded, { once: true });
      }),
    );
  }
  document.addEventListener('sluice:navigate', () => {
    [moment, invalidations] = [model.getMoment(), model.getInvalidations()];
  });
  document.addEventListener('sluice:swap', take);
  const page = { model, noteRead: () => quiet.note() };
  setCurrentPage(() => page);
  return model;
}

/** Whether the parser is past a node: the text of a script comes in parts, and a module may run between them. */
function isPast(node: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parentNode) if (at.nextSibling !== null) return true;
  return false;
}
