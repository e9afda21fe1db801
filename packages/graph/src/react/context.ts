/** Model of a component: the nearest provider's, else that of the page. */
import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { Model } from '../model/model.js';
import { currentPage } from '../page/current.js';

const ModelContext = createContext<Model | undefined>(undefined);

/** Properties of `GraphProvider`. */
export interface GraphProviderProps {
  /** Model, or a view of one, for the components below. It must be the same object from render to render. */
  readonly model: Model;
  readonly children?: ReactNode;
}

/** Gives a model to all components below. */
export function GraphProvider({ model, children }: GraphProviderProps): ReactElement {
  return createElement(ModelContext.Provider, { value: model }, children);
}

/**
 * Model of the nearest `GraphProvider`, else that of the page: on the server the one of `createPageGraph`, in the browser the one of `startGraph`.
 *
 * @throws Error if there is none.
 */
export function useModel(): Model {
  // Asked in any case: the page notes that what is rendered shows its values.
  const page = currentPage();
  const model = useContext(ModelContext) ?? page?.model;
  if (model === undefined)
    throw new Error(
      'No model: put <GraphProvider> around, or call run() of createPageGraph() or startGraph() before',
    );
  return model;
}
