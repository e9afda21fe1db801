/**
 * The walk's way back to its beginning. Hosts, components and templates have nodes of their own below them, and `node.ts` knows all of
 * these. It gives them `renderNode` and `renderUnmade` here, once in the life of the process, so that they need not know it.
 */
import type { Props } from '../facts/react.js';
import type { ComponentPlace } from '../state/hole-plan.js';
import type { Render } from '../state/render.js';

export type RenderNode = (render: Render, node: unknown, index: number) => void;
export type RenderUnmade = (render: Render, place: ComponentPlace, props: Props, index: number) => void;

/** `index`: of the node among its siblings, ALONE when it has none. */
export let renderNode: RenderNode = noBeginning;
/** Renders an element from its type and props alone. */
export let renderUnmade: RenderUnmade = noBeginning;

function noBeginning(): never {
  throw new Error('Internal to the renderer: the walk has no beginning.');
}

export function beginWith(node: RenderNode, unmade: RenderUnmade): void {
  renderNode = node;
  renderUnmade = unmade;
}
