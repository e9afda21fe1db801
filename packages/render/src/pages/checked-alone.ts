/** A component that the browser renders: on the server a task checks its props, and nothing more. It must not know pages. */
import type { Adapter } from '../adapters/adapter.js';
import type { Component } from '../component.js';

const adapter: Adapter = { name: 'checked-alone', recognises: () => false, render: () => '' };

const made = new WeakMap<Component, Component>();

/** The component whose HTML is empty, and which fails where its props are none that it takes. */
export function checkedAlone(component: Component): Component {
  let checked = made.get(component);
  if (checked === undefined) {
    // Its cache is of HTML.
    const { cacheKey: _cacheKey, ...settings } = component.settings;
    checked = { ...component, adapter, settings };
    made.set(component, checked);
  }
  return checked;
}
