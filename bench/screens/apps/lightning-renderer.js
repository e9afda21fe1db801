// In place of @lightningjs/renderer: nodes whose properties write commands, as the plain host of the other peers does.
import { create, place, remove, set } from './host.js';

const NAMES = {
  x: 'x',
  y: 'y',
  w: 'width',
  h: 'height',
  width: 'width',
  height: 'height',
  alpha: 'opacity',
  scale: 'scale',
  rotation: 'rotate',
  zIndex: 'zIndex',
  text: 'text',
  fontSize: 'fontSize',
  src: 'image',
  clipping: 'clip',
  maxLines: 'maxLines',
};

class Node {
  constructor(props) {
    this.id = create();
    this.props = {};
    for (const name in props) if (name !== 'parent') this[name] = props[name];
    this.parent = props.parent;
  }

  get parent() {
    return this.props.parent;
  }

  set parent(parent) {
    this.props.parent = parent;
    if (parent) place(parent.id, this.id, 0);
  }

  get color() {
    return this.props.color;
  }

  set color(value) {
    this.props.color = value;
    set(this.id, 'color', '#' + (value >>> 0).toString(16).padStart(8, '0'));
  }

  on() {}

  once() {}

  off() {}

  animate() {
    return { start: () => ({}), stop() {}, once() {} };
  }

  destroy() {
    remove(this.id);
  }
}

for (const name in NAMES) {
  Object.defineProperty(Node.prototype, name, {
    get() {
      return this.props[name];
    },
    set(value) {
      this.props[name] = value;
      if (value !== undefined && value !== null) set(this.id, NAMES[name], value);
    },
  });
}

export class RendererMain {
  constructor() {
    this.root = { id: 0 };
    this.stage = { shManager: { registerShaderType() {} } };
  }

  createNode(props) {
    return new Node(props);
  }

  createTextNode(props) {
    return new Node(props);
  }

  createShader() {
    return {};
  }

  on() {}
}

export function SdfTrFontFace() {}
export function WebTrFontFace() {}
