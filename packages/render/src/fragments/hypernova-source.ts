/** Components as Hypernova has them: a function that makes the whole fragment of a job's data, markup included. */
import type { Adapter } from '../adapters/adapter.js';
import type { Component, Props } from '../component.js';
import type { FragmentSource } from './fragments.js';
import { runJob } from './job.js';
import type { JobContext } from './plugins.js';

type RenderFragment = (data: unknown) => unknown;

const adapter: Adapter = {
  name: 'hypernova',
  recognises: (view) => typeof view === 'function' && 'perhaps',
  render(view, data, context) {
    const html = runJob(context, () => (view as RenderFragment)(data));
    return isPromise(html) ? html.then(textOf) : textOf(html);
  },
};

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Hypernova passes on whatever a component gave, and hosts put it into their pages as a text. What is no HTML at all is refused later. */
function textOf(html: unknown): string {
  return typeof html === 'number' || Array.isArray(html) ? String(html) : (html as string);
}

/** A `getComponent` that looks into an object finds these for names such as `constructor`, which hosts choose. */
const OF_EVERY_OBJECT: ReadonlySet<unknown> = new Set(
  Object.values(Object.getOwnPropertyDescriptors(Object.prototype)).map(({ value }): unknown => value),
);

export function hypernovaSource(
  getComponent: (name: string, context: JobContext) => unknown,
): FragmentSource {
  /** The same component each time, so that what was learnt of it is known the next time. */
  const components = new WeakMap<object, Component>();
  return {
    async find({ name }, context) {
      const view = await getComponent(name, context);
      if (typeof view !== 'function' || OF_EVERY_OBJECT.has(view)) return undefined;
      const known = components.get(view);
      if (known?.name === name) return known;
      const component: Component = { name, version: undefined, view, adapter, settings: {} };
      components.set(view, component);
      return component;
    },
    // Whatever the host sent, as it came.
    props: ({ data }) => data as Props,
    markup: (_component, html) => html,
  };
}
