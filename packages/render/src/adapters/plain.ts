/** Functions that return HTML: templates, and whatever has no adapter of its own. The function escapes what it puts in. */
import type { Props } from '../component.js';
import type { Adapter, RenderContext } from './adapter.js';

/** Plain function. Its context has the HTML of slots, an id that is unique in the document, and the signal. */
export type PlainView<P = Props> = (props: P, context: RenderContext) => string | Promise<string>;

export const plain: Adapter = {
  name: 'plain',
  recognises: (view) => typeof view === 'function' && 'perhaps',
  render: (view, props, context) => (view as PlainView)(props, context),
};
