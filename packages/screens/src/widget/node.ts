/** WidgetNode: a widget on the surface, as the focus manager sees it. Handle: what refs get of it. */
import type { Output } from './output.js';
import type { Rect, WidgetHandle, WidgetProps } from './props.js';

export class WidgetNode {
  /** Number of the widget; changes once at most, when the root takes over a screen that the surface shows already. */
  declare id: number;
  declare parent: WidgetNode | null;
  /** Children in the order of the surface. */
  declare children: WidgetNode[];
  declare props: WidgetProps;
  // As last reported, pixels of the surface; not a number before.
  declare x: number;
  declare y: number;
  declare width: number;
  declare height: number;
  /** Field of the focus manager. */
  declare focus: unknown;
  /** Whether a Suspense above hides the widget. */
  declare hidden: boolean;
  /** Place among the children before a commit, while that runs. */
  declare index: number;
  /** Commit that has seen the widget last. */
  declare stamp: number;
  /** Whether the focus manager wants the place. */
  declare tracked: boolean;
  /** Whether `staticStyle` is sent as own values, because the surface has too many styles. */
  declare merged: boolean;
  /** Whether the props ask for reports. */
  declare reports: boolean;
  /** Whether the focus manager knows the widget. */
  declare managed: boolean;
  declare handle: Handle | null;
  /** Numbers of the widgets of its block, if the compiler has made one. */
  declare inner: number[] | null;

  constructor(id: number, props: WidgetProps, parent: WidgetNode | null) {
    this.id = id;
    this.parent = parent;
    this.props = props;
  }
}

// Most widgets never have one of these of their own, and each store of a constructor counts where code is interpreted.
Object.assign(WidgetNode.prototype, {
  // Shared by all without children; a change puts another array in place.
  children: [],
  x: NaN,
  y: NaN,
  width: NaN,
  height: NaN,
  focus: undefined,
  hidden: false,
  index: 0,
  stamp: 0,
  tracked: false,
  merged: false,
  reports: false,
  managed: false,
  handle: null,
  inner: null,
});

/** Stands for each widget of a block: it has no props, and no events come for it. */
export const INNER = new WidgetNode(-1, {}, null);

export class Handle implements WidgetHandle {
  private readonly node: WidgetNode;
  private readonly output: Output;

  constructor(node: WidgetNode, output: Output) {
    this.node = node;
    this.output = output;
  }

  get id(): number {
    return this.node.id;
  }

  get rect(): Rect | null {
    const { x, y, width, height } = this.node;
    return Number.isNaN(width) ? null : { x, y, width, height };
  }

  focus(): void {
    this.output.focus(this.node);
  }
}
