/** Model that is given to components. */
import { createContext, createElement, type ReactElement, type ReactNode } from 'react';
import type { Model } from '../model/model.js';

/** Model of the nearest provider. */
export const ModelContext = createContext<Model | undefined>(undefined);

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
