/** Remote components outside of pages, as one of a batch of fragments. It must not know the protocol. */
import type { Adapter } from '../adapters/adapter.js';
import { RemoteView } from './remote.js';

export const REMOTE_ADAPTER = 'remote';

/** Give it to `createRegistry` for components of `createRemote`. */
export const remoteAdapter: Adapter = {
  name: REMOTE_ADAPTER,
  recognises: (view) => view instanceof RemoteView,
  async render(view, props, { signal }) {
    if (!(view instanceof RemoteView)) throw new TypeError('not a component of createRemote');
    const { html } = await view.render(props, signal);
    return html;
  },
};
