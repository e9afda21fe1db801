// Preact on nodes that have just what it calls.
import { options, render } from 'preact';
import { create, place, remove, set, setStyle } from './host.js';
import { Home } from './view.jsx';

let withKey;

class Node {
  constructor(parentless) {
    this.id = parentless ? 0 : create();
    this.nodeType = 1;
    this.localName = 'sluice-widget';
    this.parentNode = null;
    this.childNodes = [];
    this.styles = undefined;
    this.handler = undefined;
    this.ownerDocument = document;
    this.namespaceURI = null;
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get nextSibling() {
    const siblings = this.parentNode === null ? [] : this.parentNode.childNodes;
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  insertBefore(child, before) {
    if (child.parentNode !== null)
      child.parentNode.childNodes.splice(child.parentNode.childNodes.indexOf(child), 1);
    child.parentNode = this;
    if (!before) this.childNodes.push(child);
    else this.childNodes.splice(this.childNodes.indexOf(before), 0, child);
    place(this.id, child.id, !before ? 0 : before.id);
    return child;
  }

  appendChild(child) {
    return this.insertBefore(child, null);
  }

  contains(node) {
    for (let at = node; at !== null; at = at.parentNode) if (at === this) return true;
    return false;
  }

  removeChild(child) {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
    remove(child.id);
  }

  remove() {
    if (this.parentNode !== null) this.parentNode.removeChild(this);
  }

  // Properties that Preact finds by `in` are assigned, so styles are compared here, as a host has to.
  get widgetStyle() {
    return this.styles;
  }

  set widgetStyle(now) {
    setStyle(this.id, this.styles, now ?? undefined);
    this.styles = now ?? undefined;
  }

  get text() {
    return '';
  }

  set text(value) {
    set(this.id, 'text', value);
  }

  get image() {
    return '';
  }

  set image(value) {
    set(this.id, 'image', value);
  }

  get handlesKey() {
    return this.handler;
  }

  set handlesKey(value) {
    this.handler = value ?? undefined;
    if (this.handler !== undefined) withKey = this;
  }

  setAttribute() {}

  removeAttribute() {}
}

const document = { createElement: () => new Node(false), createElementNS: () => new Node(false) };
globalThis.document = document;

// `style` and `on…` have meanings of their own in Preact.
// oxlint-disable-next-line typescript/unbound-method -- A function that Preact calls.
const beforeElement = options.vnode;
options.vnode = (vnode) => {
  if (vnode.type === 'sluice-widget') {
    const { style, onKey, ...rest } = vnode.props;
    rest.widgetStyle = style;
    if (onKey !== undefined) rest.handlesKey = onKey;
    vnode.props = rest;
  }
  beforeElement?.(vnode);
};

let due;
options.debounceRendering = (run) => {
  due = run;
};

/** Mounts the screen. */
export function mount() {
  const root = new Node(true);
  render(<Home />, root);
  return {
    key(name) {
      withKey.handler({ key: name });
      due?.();
      due = undefined;
    },
    unmount() {
      render(null, root);
    },
  };
}
