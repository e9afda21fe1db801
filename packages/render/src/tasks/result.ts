/** Result of one component's render. It must not know how renders are ordered or measured. */
import type { RenderContext } from '../adapters/adapter.js';
import type { Component, Props } from '../component.js';
import type { OwnProps } from './own-props.js';

/**
 * Reason for the lack of a component's HTML.
 * - `error`: it threw, or its HTML is too large.
 * - `late`: its time, or the page's, was used up.
 * - `unknown`: no component has that name.
 * - `invalid`: its props are none that it takes.
 * - `aborted`: nobody waits for it any more.
 */
export type Failure = 'error' | 'late' | 'unknown' | 'invalid' | 'aborted';

export interface Rendered {
  readonly ok: true;
  readonly html: string;
  /** CPU time of this component alone, in microseconds: no other component's, whatever ran in between. */
  readonly cpu_us: number;
  /** Time between `run` and the start of the render, in microseconds. */
  readonly waited_us: number;
  /** The HTML came from the component cache. */
  readonly isCached: boolean;
  /** The render used more CPU time than its budget. A synchronous render cannot be interrupted, so there is HTML. */
  readonly isOverBudget: boolean;
  /** A part of the HTML has failed, such as a boundary of React, and is the browser's to render. */
  readonly isPartial: boolean;
}

export interface Failed {
  readonly ok: false;
  readonly reason: Failure;
  readonly error: Error;
  readonly cpu_us: number;
  readonly waited_us: number;
}

export type TaskResult = Rendered | Failed;

/** Facts of a job about its place. Its signal is the queue's, which knows when nobody waits any more. */
export type JobPlace = Omit<RenderContext, 'signal'>;

/** Facts of a component to be rendered with its props. */
export interface Job {
  readonly component: Component;
  /** Props as they came, or those that others ask for as well. */
  readonly props: Props | OwnProps;
  readonly context: JobPlace;
  /** CPU milliseconds. Default: the component's setting, else the queue's. */
  readonly budgetMs?: number | undefined;
  /** Data that it waited for has come: it goes before components that have not begun. */
  readonly isResumed?: boolean | undefined;
}
