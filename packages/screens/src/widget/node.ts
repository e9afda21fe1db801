/** WidgetNode: a widget on the surface, as the focus manager sees it. Handle: what refs get of it. */
import type { Output } from './output.js';
import type { Rect, WidgetHandle, WidgetProps } from './props.js';

export class WidgetNode {
  /** Changes once at most, when the root takes over a screen that the surface shows already. */
  declare id: number;
  declare parent: WidgetNode | null;
  /** In the order of the surface. */
  declare children: WidgetNode[];
  declare props: WidgetProps;
  // As last reported, pixels of the surface; not a number before.
  declare x: number;
  declare y: number;
  declare width: number;
  declare height: number;
  /** For the focus manager. */
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

  constructor(id: number, props: WidgetProps, parent: WidgetNode | null) {
    this.id = id;
    this.parent = parent;
    this.children = NONE;
    this.props = props;
    this.x = NaN;
    this.y = NaN;
    this.width = NaN;
    this.height = NaN;
    this.focus = undefined;
    this.hidden = false;
    this.index = 0;
    this.stamp = 0;
    this.tracked = false;
    this.merged = false;
    this.reports = false;
    this.managed = false;
    this.handle = null;
  }
}

/** Children of all widgets that have none; never changed. */
const NONE: WidgetNode[] = [];

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
