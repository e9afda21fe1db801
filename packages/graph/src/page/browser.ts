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
 * brings its state as well: it replaces older values, before the components of that page run.
 */
export function startGraph(options: Omit<ModelOptions, 'cache'>): Model {
  const quiet = new Quiet((look) => setTimeout(look));
  const { source } = options;
  let state: Model | undefined;
  const whole = new Model(
    source === undefined ? options : { ...options, source: heldNoted(source, () => state) },
  );
  const model = whole.batch((send) => quiet.await(send));
  let moment = 0;
  const take = (): boolean => {
    const scripts = document.querySelectorAll(`script[${STATE_ATTRIBUTE}]`);
    for (const script of scripts) {
      const jsonGraph = JSON.parse(script.textContent) as JsonGraph;
      model.merge({ jsonGraph }, moment);
      if (script.getAttribute(STATE_ATTRIBUTE) === COUNTED) (state ??= new Model()).merge({ jsonGraph });
      script.removeAttribute(STATE_ATTRIBUTE);
    }
    return scripts.length > 0;
  };
  if (!take() && document.readyState === 'loading') {
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
  document.addEventListener('sluice:navigate', () => (moment = model.getMoment()));
  document.addEventListener('sluice:swap', take);
  const page = { model, noteRead: () => quiet.note() };
  setCurrentPage(() => page);
  return model;
}
