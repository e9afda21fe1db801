/** One box that has been started: its task, what it is to become, and what became of it. It must not know pages or the order of boxes. */
import { NO_SLOTS, slotsOf } from '../adapters/slot.js';
import type { Slots } from '../adapters/adapter.js';
import type { Component, Hydration, Props } from '../component.js';
import type { OwnProps } from '../tasks/own-props.js';
import type { Html } from '../tasks/placed-html.js';
import type { Failure } from '../tasks/result.js';
import { Task } from '../tasks/task.js';
import type { Found } from './lookup.js';
import { NO_TURN } from './order.js';
import type { Box } from './plan.js';
import type { Result } from './results.js';

/** Takes the end of a box's task. */
export interface BoxTaskOwner {
  rendered(task: BoxTask, html: Html): void;
  failed(task: BoxTask, reason: Failure, error: Error): void;
}

/** Waits for a box. */
export interface Waiter {
  /** Called once, in the turn in which the box is there. Must not throw. */
  settled(result: Result): void;
}

export class BoxTask extends Task {
  readonly box: Box;
  /** Answer of the registry to the name of the box. */
  readonly found: Found;
  readonly isResumed: boolean;
  readonly id: string;
  readonly budgetMs = undefined;
  readonly #owner: BoxTaskOwner;
  slots: Slots = NO_SLOTS;
  isStatic = false;
  /** Turn in the order of the tree; `NO_TURN` for a box that was resumed. */
  turn = NO_TURN;
  result: Result | undefined = undefined;
  waiting: Waiter[] | undefined = undefined;
  component!: Component;
  /** The component as the registry names it, which reports are about. `component` has the form that is rendered: HTML, JSON, or props alone. */
  named!: Component;
  /** Props as the component's schema makes them. Undefined before `prepare`, and at the end: what was written need not be kept. */
  own: OwnProps | undefined = undefined;
  hydration: Hydration | undefined = undefined;
  /** Result of a box that the browser renders, if its props are what its component takes. Undefined at the end, likewise. */
  hole: Result | undefined = undefined;

  constructor(owner: BoxTaskOwner, box: Box, found: Found, isResumed: boolean) {
    super();
    this.#owner = owner;
    this.box = box;
    this.id = box.id;
    this.found = found;
    this.isResumed = isResumed;
  }

  get props(): Props | OwnProps {
    return this.own ?? this.box.given;
  }

  /** `component` is rendered in the form that the client wants; `named` is that of the registry. */
  prepare(
    component: Component,
    named: Component,
    own: OwnProps | undefined,
    hydration: Hydration | undefined,
  ): void {
    this.component = component;
    this.named = named;
    this.own = own;
    this.hydration = hydration;
    this.isStatic = hydration === undefined && this.hole === undefined;
    const { slots } = this.box;
    if (slots.size > 0 && this.hole === undefined) this.slots = slotsOf([...slots.keys()]);
  }

  protected rendered(html: Html): void {
    this.#owner.rendered(this, html);
    this.own = this.hole = undefined;
  }

  protected failed(reason: Failure, error: Error): void {
    this.#owner.failed(this, reason, error);
    this.own = this.hole = undefined;
  }
}
