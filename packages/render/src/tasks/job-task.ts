/** The task of a job, whose result is an object. It must not know queues. */
import type { Slots } from '../adapters/adapter.js';
import type { Component, Props } from '../component.js';
import type { OwnProps } from './own-props.js';
import type { Html } from './placed-html.js';
import type { Failure, Job, TaskResult } from './result.js';
import { Task } from './task.js';

export class JobTask extends Task {
  readonly component: Component;
  readonly props: Props | OwnProps;
  readonly id: string;
  readonly slots: Slots;
  readonly isStatic: boolean;
  readonly budgetMs: number | undefined;
  readonly isResumed: boolean;
  readonly #tell: (result: TaskResult) => void;

  constructor(
    { component, props, context, budgetMs, isResumed = false }: Job,
    tell: (result: TaskResult) => void,
  ) {
    super();
    this.component = component;
    this.props = props;
    this.id = context.id;
    this.slots = context.slots;
    this.isStatic = context.isStatic ?? false;
    this.budgetMs = budgetMs;
    this.isResumed = isResumed;
    this.#tell = tell;
  }

  protected rendered(html: Html): void {
    const { cpu_us, waited_us, isCached, isOverBudget, isPartial } = this;
    this.#tell({ ok: true, html: String(html), cpu_us, waited_us, isCached, isOverBudget, isPartial });
  }

  protected failed(reason: Failure, error: Error): void {
    const { cpu_us, waited_us } = this;
    this.#tell({ ok: false, reason, error, cpu_us, waited_us });
  }
}
