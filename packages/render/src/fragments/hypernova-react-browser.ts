/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** `@sluice/render/hypernova-react` in a browser: hydrates the fragments of a name that are in the document. */
import { createElement, type ComponentType } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { load } from './markup.js';

/** Returns the component. */
export function renderReact<P extends object>(name: string, component: ComponentType<P>): ComponentType<P> {
  for (const { id, node, data } of load(name)) {
    hydrateRoot(node, createElement(component, data as P), { identifierPrefix: id });
  }
  return component;
}

export function renderReactStatic<P extends object>(
  _name: string,
  component: ComponentType<P>,
): ComponentType<P> {
  return component;
}
