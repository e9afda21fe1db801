/**
 * The walk's way back to its beginning. Hosts, components and templates have nodes of their own below them, and `node.ts` knows all of
 * these. It gives them `renderNode` here, once in the life of the process, so that they need not know it.
 */
import type { Render } from '../state/render.js';

export type RenderNode = (render: Render, node: unknown, index: number) => void;

/** `index`: of the node among its siblings, ALONE when it has none. */
export let renderNode: RenderNode = () => {
  throw new Error('Internal to the renderer: the walk has no beginning.');
};

export function beginWith(render: RenderNode): void {
  renderNode = render;
}
