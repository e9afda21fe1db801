/**
 * The way to one box by its id: which nodes of the tree are around it, and which item of each repetition it is in. It must not know
 * data, so it cannot say whether there is such an item.
 */
import type { TreeNode } from './tree.js';

export interface Step {
  readonly node: TreeNode;
  /** Item of the node's `each`; undefined without one. */
  readonly index: number | undefined;
}

/** Id as `Planner` gives it: a name of the tree or a place, then numbers of items and places. */
const ID = /^([A-Za-z]\w{0,63})((?:-(?:0|[1-9]\d{0,8}))*)$/;
const PLACE = /^b(0|[1-9]\d{0,8})$/;

/**
 * Returns the way from the outermost node to that of the box; undefined if the tree has no box with this id, regardless
 * of its data.
 */
export function wayTo(nodes: readonly TreeNode[], id: string): readonly Step[] | undefined {
  const [, name, text = ''] = ID.exec(id) ?? [];
  if (name === undefined) return undefined;
  const numbers = text.split('-').slice(1).map(Number);
  const steps: Step[] = [];
  const pass = (node: TreeNode): boolean => {
    const index = node.each === undefined ? undefined : numbers.shift();
    steps.push({ node, index });
    return node.each === undefined || index !== undefined;
  };
  let node: TreeNode | undefined;
  for (node of nodesTo(nodes, name) ?? []) if (!pass(node)) return undefined;
  if (node === undefined) return undefined;
  for (let place = numbers.shift(); place !== undefined; place = numbers.shift()) {
    node = childrenOf(node)[place];
    // A node with a name is found by that alone.
    if (node === undefined || node.id !== undefined || !pass(node)) return undefined;
  }
  return steps;
}

/** Returns the nodes from the outermost to that of this name, or to the outermost of this place. */
function nodesTo(nodes: readonly TreeNode[], name: string): readonly TreeNode[] | undefined {
  const [, place] = PLACE.exec(name) ?? [];
  if (place === undefined) return nodesToNamed(nodes, name);
  const node = nodes[Number(place)];
  return node === undefined || node.id !== undefined ? undefined : [node];
}

function nodesToNamed(nodes: readonly TreeNode[], name: string): readonly TreeNode[] | undefined {
  for (const node of nodes) {
    if (node.id === name) return [node];
    const inner = nodesToNamed(childrenOf(node), name);
    if (inner !== undefined) return [node, ...inner];
  }
  return undefined;
}

function childrenOf({ slots = {} }: TreeNode): readonly TreeNode[] {
  return Object.values(slots).flat();
}
