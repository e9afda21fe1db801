/** The context of a task's render: what an adapter and a view may know of their task, and no more. It must not know queues. */
import type { Slots } from '../adapters/adapter.js';
import type { TaskContext } from './render.js';

/** The part of a task that its context reads, and what it tells the task. */
export interface ContextSource extends TaskContext {
  readonly isStatic: boolean;
  tellPartial(): void;
}

export class ContextOfTask implements TaskContext {
  readonly id: string;
  readonly slots: Slots;
  readonly isStatic: boolean;
  readonly #task: ContextSource;

  constructor(task: ContextSource) {
    this.id = task.id;
    this.slots = task.slots;
    this.isStatic = task.isStatic;
    this.#task = task;
  }

  get signal(): AbortSignal {
    return this.#task.signal;
  }

  get isCut(): boolean {
    return this.#task.isCut;
  }

  get isCached(): boolean {
    return this.#task.isCached;
  }

  set isCached(isCached: boolean) {
    this.#task.isCached = isCached;
  }

  tellPartial(): void {
    this.#task.tellPartial();
  }
}
