// Box: a widget as a surface has it.
import type { Node as YogaNode } from 'yoga-layout';
import { PROPERTIES } from '../../stream/codes.js';
import type { Motion } from './motion.js';
import { DEFAULT_OF, type Transition, type Value } from './values.js';

/** Values and transitions that boxes share, or a box's own, by the code of their property. */
export class Style {
  readonly values = new Map<number, Value>();
  readonly transitions = new Map<number, Transition>();
}

export class Box {
  readonly id: number;
  parent: Box | null = null;
  readonly children: Box[] = [];
  readonly own = new Style();
  shared: Style | null = null;
  whileFocused: Style | null = null;
  isFocused = false;
  /** Values in force that are not the default, with motions at their last frame. */
  readonly shown = new Map<number, Value>();
  motions: Map<number, Motion> | null = null;
  /** Whether a frame had it: before that no transition counts. */
  wasDrawn = false;
  readonly node: YogaNode;
  isMeasured = false;
  /** Levels of boxes that are or were below. */
  height_levels = 0;
  /** Place in the surface after layout, without shift, scale and rotation; not a number before. */
  x = Number.NaN;
  y = Number.NaN;
  width = Number.NaN;
  height = Number.NaN;
  /** Object by which the surface draws the box. */
  drawing: unknown = undefined;

  constructor(id: number, node: YogaNode) {
    this.id = id;
    this.node = node;
  }

  /** Value in force. */
  get(code: number): Value {
    return this.shown.get(code) ?? (DEFAULT_OF[code] as Value);
  }

  number(code: number): number {
    return this.get(code) as number;
  }

  text(code: number): string {
    return this.get(code) as string;
  }

  /** Value that the styles say: focus, own, shared, default. */
  target(code: number): Value {
    const focused = this.isFocused ? this.whileFocused?.values.get(code) : undefined;
    return (
      focused ?? this.own.values.get(code) ?? this.shared?.values.get(code) ?? (DEFAULT_OF[code] as Value)
    );
  }

  transition(code: number): Transition | undefined {
    const focused = this.isFocused ? this.whileFocused?.transitions.get(code) : undefined;
    return focused ?? this.own.transitions.get(code) ?? this.shared?.transitions.get(code);
  }

  get isHidden(): boolean {
    return this.get(PROPERTIES.display.code) === 1;
  }

  get reports(): boolean {
    return this.get(PROPERTIES.reports.code) === 1;
  }
}
