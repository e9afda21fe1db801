/**
 * `@sluice/render/hypernova-react`, the server's half: as `hypernova-react`, for React 18 and 19, rendered by the adapter. It
 * waits for components that wait for data. `hypernova-react-browser.ts` is the other half, and takes the same names.
 */
import type { ComponentType } from 'react';
import type { RenderContext } from '../adapters/adapter.js';
import { NO_SLOTS } from '../adapters/slot.js';
import { react } from '../adapters/react.js';
import type { Props } from '../component.js';
import { contextOfJob, signalOfJob } from './job.js';
import { serialize } from './markup.js';

/** Renders a component's data to a fragment. */
export type RenderFragment<P> = (data: P) => string | Promise<string>;

const adapter = react();

/** A fragment that the browser hydrates. */
export function renderReact<P extends object>(name: string, component: ComponentType<P>): RenderFragment<P> {
  return (data) => {
    // Also the prefix of ids that React makes up: several fragments of a document have different ones.
    const id = crypto.randomUUID();
    const html = adapter.render(component, data as Props, new JobContext(id));
    return typeof html === 'string'
      ? serialize(name, html, data, id)
      : html.then((whole) => serialize(name, whole, data, id));
  };
}

/** A fragment that the browser leaves alone. */
export function renderReactStatic<P extends object>(
  _name: string,
  component: ComponentType<P>,
): RenderFragment<P> {
  return (data) => adapter.render(component, data as Props, new JobContext('', true));
}

/** Context of a job. Most components are rendered at once and need no signal. */
class JobContext implements RenderContext {
  readonly id: string;
  readonly slots = NO_SLOTS;
  readonly isStatic: boolean;
  readonly #job = contextOfJob();
  #signal: AbortSignal | undefined;

  constructor(id: string, isStatic = false) {
    this.id = id;
    this.isStatic = isStatic;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= signalOfJob());
  }

  tellPartial(): void {
    this.#job?.tellPartial?.();
  }
}
