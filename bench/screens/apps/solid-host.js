import { createRenderer } from 'solid-js/universal';
import { create, place, remove, set, setStyle } from './host.js';

let keyed;

class Node {
  parent = undefined;
  children = [];
  handler = undefined;

  constructor(id) {
    this.id = id;
  }

  sibling() {
    return this.parent?.children[this.parent.children.indexOf(this) + 1];
  }
}

const renderer = createRenderer({
  createElement: () => new Node(create()),
  createTextNode() {
    throw new Error('text goes into the `text` prop');
  },
  replaceText() {},
  isTextNode: () => false,
  setProperty(node, name, value, before) {
    if (name === 'style') setStyle(node.id, before, value);
    else if (name === 'onKey') {
      node.handler = value;
      if (value !== undefined) keyed = node;
    } else set(node.id, name, value);
  },
  insertNode(parent, node, anchor) {
    if (node.parent !== undefined) node.parent.children.splice(node.parent.children.indexOf(node), 1);
    node.parent = parent;
    if (!anchor) parent.children.push(node);
    else parent.children.splice(parent.children.indexOf(anchor), 0, node);
    place(parent.id, node.id, !anchor ? 0 : anchor.id);
  },
  removeNode(parent, node) {
    parent.children.splice(parent.children.indexOf(node), 1);
    node.parent = undefined;
    remove(node.id);
  },
  getParentNode: (node) => node.parent,
  getFirstChild: (node) => node.children[0],
  getNextSibling: (node) => node.sibling(),
});

/* oxlint-disable typescript/unbound-method -- Solid's compiler calls them as functions. */
export const {
  effect,
  memo,
  createComponent,
  createElement,
  createTextNode,
  insertNode,
  insert,
  spread,
  setProp,
  mergeProps,
  use,
} = renderer;
/* oxlint-enable typescript/unbound-method */

export const withKey = () => keyed;

/** Renders into a new root; the answer unmounts. */
export function render(code) {
  const root = new Node(0);
  const dispose = renderer.render(code, root);
  return () => {
    for (const child of root.children) remove(child.id);
    dispose();
  };
}
