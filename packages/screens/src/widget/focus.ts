/** Focus: what the renderer asks of a focus manager, and a plain one that knows `focused` and passes keys up. */
import type { WidgetNode } from './node.js';
import type { WidgetKeyEvent, WidgetProps } from './props.js';

export interface FocusCommands {
  /** Gives the focus to a widget, 0 for none. */
  focus(id: number): void;
  /** Lets the surface report the widget's place, or no longer. */
  reports(node: WidgetNode, on: boolean): void;
}

export interface Focus {
  readonly focused: WidgetNode | null;
  attach(node: WidgetNode): void;
  detach(node: WidgetNode): void;
  changed(node: WidgetNode, before: WidgetProps): void;
  key(event: WidgetKeyEvent): void;
  /** Ends a commit. */
  settle(): void;
  focus(node: WidgetNode): boolean;
  /** Notes that the batch of a key is on the screen. */
  drawn?(cause: number): void;
}

export type MakeFocus = (root: WidgetNode, send: FocusCommands) => Focus;

export class KeyPress implements WidgetKeyEvent {
  readonly key: string;
  readonly phase: number;
  readonly sequence: number;
  readonly time: number;
  defaultPrevented = false;

  constructor(key: string, phase: number, sequence: number, time: number) {
    this.key = key;
    this.phase = phase;
    this.sequence = sequence;
    this.time = time;
  }

  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

const RELEASED = 2;

/** The last widget that was given the focus has it. Keys go to it and to those above. */
export class PlainFocus implements Focus {
  focused: WidgetNode | null = null;
  private readonly root: WidgetNode;
  private readonly send: FocusCommands;

  constructor(root: WidgetNode, send: FocusCommands) {
    this.root = root;
    this.send = send;
  }

  attach(node: WidgetNode): void {
    if (node.props.focused === true) this.focus(node);
  }

  detach(node: WidgetNode): void {
    if (this.focused === node) this.move(null);
  }

  changed(node: WidgetNode, before: WidgetProps): void {
    const { focused } = node.props;
    if (focused === before.focused) return;
    if (focused === true) this.focus(node);
    else if (this.focused === node) this.move(null);
  }

  key(event: WidgetKeyEvent): void {
    for (let node: WidgetNode | null = this.focused ?? this.root; node !== null; node = node.parent) {
      const { props } = node;
      const handler = event.phase === RELEASED ? props.onKeyUp : props.onKey;
      if (handler !== undefined && (handler(event) === true || event.defaultPrevented)) return;
    }
  }

  settle(): void {}

  focus(node: WidgetNode): boolean {
    this.move(node);
    return true;
  }

  private move(node: WidgetNode | null): void {
    const before = this.focused;
    if (before === node) return;
    this.focused = node;
    this.send.focus(node === null ? 0 : node.id);
    before?.props.onBlur?.();
    node?.props.onFocus?.();
  }
}
