/** WidgetNode: a widget on the surface, as the focus manager sees it. Handle: what refs get of it. */
import type { Output } from './output.js';
import type { Rect, WidgetHandle, WidgetProps } from './props.js';

export class WidgetNode {
  /** Changes once at most, when the root takes over a screen that the surface shows already. */
  id: number;
  parent: WidgetNode | null;
  /** In the order of the surface. */
  children: WidgetNode[] = [];
  props: WidgetProps;
  // As last reported, pixels of the surface; not a number before.
  x = NaN;
  y = NaN;
  width = NaN;
  height = NaN;
  /** For the focus manager. */
  focus: unknown = undefined;
  /** Whether a Suspense above hides the widget. */
  hidden = false;
  /** Place among the children before a commit, while that runs. */
  index = 0;
  /** Commit that has seen the widget last. */
  stamp = 0;
  /** Whether the focus manager wants the place. */
  tracked = false;
  /** Whether `staticStyle` is sent as own values, because the surface has too many styles. */
  merged = false;
  /** Whether the props ask for reports. */
  reports = false;
  /** Whether the focus manager knows the widget. */
  managed = false;
  handle: Handle | null = null;

  constructor(id: number, props: WidgetProps, parent: WidgetNode | null) {
    this.id = id;
    this.props = props;
    this.parent = parent;
  }
}

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
