/** A component's form for clients that are not browsers, made as a task like its HTML. It must not know pages. */
import type { Adapter } from '../adapters/adapter.js';
import type { Component, Settings } from '../component.js';
import { isPromise } from '../tasks/promise.js';

/** JSON form; without it, the form is the props, as the schema gives them. */
type Form = NonNullable<Settings['json']>;

const adapter: Adapter = {
  name: 'json',
  recognises: () => false,
  render(form, props, { signal }) {
    const given = (form as Form)(props, { signal });
    return isPromise(given) ? Promise.resolve(given).then(textOf) : textOf(given);
  },
};

/** `undefined` has no JSON. */
function textOf(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

const itself: Form = (props) => props;

const made = new WeakMap<Component, Component>();

/** The component whose HTML is the text of the JSON form. It throws where the form is none. */
export function jsonComponent(component: Component): Component {
  let json = made.get(component);
  if (json === undefined) {
    // Its cache is of HTML.
    const { cacheKey: _cacheKey, ...settings } = component.settings;
    json = { ...component, view: settings.json ?? itself, adapter, settings };
    made.set(component, json);
  }
  return json;
}
