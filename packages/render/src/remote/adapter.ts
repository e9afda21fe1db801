/** Remote components outside of pages, as one of a batch of fragments. It must not know the protocol. */
import { OWN_ADAPTER, type Adapter } from '../adapters/adapter.js';
import type { RemoteView } from './remote.js';

/** Components of `createRemote` bring it along, so that registries need not be given it. */
export const remoteAdapter: Adapter = {
  name: 'remote',
  hasOwnMarkup: true,
  recognises: isRemote,
  async render(view, props, context) {
    if (!isRemote(view)) throw new TypeError('not a component of createRemote');
    const { html, isPartial } = await view.render(props, context.signal);
    if (isPartial) context.tellPartial?.();
    return html;
  },
};

function isRemote(view: unknown): view is RemoteView {
  return (
    typeof view === 'object' && view !== null && OWN_ADAPTER in view && view[OWN_ADAPTER] === remoteAdapter
  );
}
