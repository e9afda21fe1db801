/**
 * Fate of one box, in the words of the page: of a task, of a service, of nothing. It must not know when boxes are started or
 * written.
 */
import type { Component, Hydration } from '../component.js';
import type { Outcome } from '../host.js';
import { RemoteError } from '../remote/errors.js';
import { RemoteView } from '../remote/remote.js';
import { InvalidPropsError, LateError } from '../tasks/errors.js';
import { OwnProps } from '../tasks/own-props.js';
import type { Html } from '../tasks/placed-html.js';
import type { Failure } from '../tasks/result.js';
import type { Found } from './lookup.js';
import type { Box, Item } from './plan.js';

/** `hole` of a box. */
export type Hole = 'late' | 'error' | 'unknown' | 'client' | 'remote';

/** A box with what became of it. */
export interface Result {
  readonly box: Box;
  /** Undefined where there is none of that name. */
  readonly component: Component | undefined;
  /** Undefined where there is no component, or no data, and where it is written. */
  props: OwnProps | undefined;
  readonly outcome: Outcome;
  /** HTML, or the text of the JSON form; undefined for a hole, and where it is written. */
  text: Html | undefined;
  readonly hole: Hole | undefined;
  /** Time at which the browser takes over; undefined for never. */
  readonly hydration: Hydration | undefined;
  /** A part of the HTML has failed. */
  readonly isPartial: boolean;
  readonly cpu_us: number;
  readonly waited_us: number;
  readonly error: Error | undefined;
}

/** A box's task at its end. */
export interface EndedTask {
  readonly box: Box;
  readonly cpu_us: number;
  readonly waited_us: number;
}

export interface RenderedTask extends EndedTask {
  /** The component as the registry names it. */
  readonly named: Component;
  readonly own: OwnProps | undefined;
  readonly hydration: Hydration | undefined;
  readonly isCached: boolean;
  readonly isOverBudget: boolean;
  readonly isPartial: boolean;
}

export interface ResultsOptions {
  readonly find: (item: Pick<Item, 'node'>) => Found;
  /** Props are frozen, so that a component which changes them throws. */
  readonly isDevelopment: boolean;
}

const HOLES: Readonly<Record<Failure, Hole>> = {
  error: 'error',
  late: 'late',
  unknown: 'unknown',
  invalid: 'error',
  aborted: 'late',
};
const REMOTE_OUTCOMES: Readonly<Record<RemoteError['reason'], Outcome>> = {
  late: 'remote-late',
  error: 'remote-error',
  open: 'remote-open',
  aborted: 'aborted',
};
const HYDRATION: Hydration = 'load';

export class Results {
  readonly #options: ResultsOptions;
  /** Props of components with a schema, which is asked once. */
  readonly #props = new Map<Box, OwnProps>();

  constructor(options: ResultsOptions) {
    this.#options = options;
  }

  /** Returns the props of the box's component. Undefined if there is no component, or no data. */
  props(box: Box, component: Component | undefined = this.component(box)): OwnProps | undefined {
    const known = this.#props.get(box);
    if (known !== undefined) return known;
    if (component === undefined || box.failure !== undefined) return undefined;
    const props = new OwnProps(component, box.given, this.#options.isDevelopment);
    // Others have nothing to ask twice.
    if (component.settings.props !== undefined) this.#props.set(box, props);
    return props;
  }

  ofTask(task: RenderedTask, html: Html): Result {
    const { box, named, hydration, own, isPartial, cpu_us, waited_us } = task;
    const outcome = task.isCached ? 'cached' : task.isOverBudget ? 'over-budget' : 'rendered';
    return this.rendered(box, named, outcome, html, hydration, cpu_us, waited_us, own, isPartial);
  }

  ofFailure({ box, cpu_us, waited_us }: EndedTask, reason: Failure, error: Error): Result {
    return { ...this.hole(box, reason, HOLES[reason], error), cpu_us, waited_us };
  }

  late(box: Box): Result {
    return this.hole(box, 'late', 'late', lateError(box));
  }

  rendered(
    box: Box,
    component: Component | undefined,
    outcome: Outcome,
    text: Html,
    hydration: Hydration | undefined,
    cpu_us: number,
    waited_us: number,
    props: OwnProps | undefined,
    isPartial = false,
  ): Result {
    return {
      box,
      component,
      props,
      outcome,
      text,
      hole: undefined,
      hydration,
      isPartial,
      cpu_us,
      waited_us,
      error: undefined,
    };
  }

  hole(box: Box, outcome: Outcome, hole: Hole | undefined, error?: Error): Result {
    const component = this.component(box);
    const rendering = box.node.rendering ?? component?.settings.rendering;
    // The browser has no code for it.
    const isStatic = rendering === 'static';
    const isRemote = component?.view instanceof RemoteView;
    const isForBrowser = component !== undefined && !isStatic && !isRemote;
    const hydration = isForBrowser ? this.hydration(box, component) : undefined;
    const props = this.props(box);
    const common = {
      box,
      component,
      props,
      outcome,
      text: undefined,
      hydration,
      isPartial: false,
      cpu_us: 0,
      waited_us: 0,
      error,
    };
    return { ...common, hole: isStatic ? undefined : isRemote && hole !== undefined ? 'remote' : hole };
  }

  /** Undefined where there is none of that name, it could not be loaded, or the client does not know it. */
  component(item: Pick<Item, 'node'>): Component | undefined {
    const found = this.#options.find(item);
    return found instanceof Error || found === 'unsupported' ? undefined : found;
  }

  hydration(box: Box, component: Component): Hydration {
    return box.node.hydration ?? component.settings.hydration ?? HYDRATION;
  }
}

export function remoteOutcomeOf(error: Error): Outcome {
  if (error instanceof InvalidPropsError) return 'invalid';
  return REMOTE_OUTCOMES[error instanceof RemoteError ? error.reason : 'error'];
}

function lateError({ id, node }: Box): Error {
  return new LateError(`The page's time limit passed before box ${id} (${node.component}) was there`);
}
