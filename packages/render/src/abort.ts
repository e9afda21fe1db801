/**
 * Aborts whose `AbortSignal` is made when somebody asks for it: a signal costs as much as a small component, and most pages end without
 * one. It must not know what is aborted.
 */

import { setMaxListeners } from 'node:events';

/** The part of `AbortSignal` that is used here, so that an `AbortSignal` is one, too. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Error of work whose result nobody waits for any more. */
export class AbandonedError extends Error {
  override readonly name = 'AbortError';
}

export class Abort implements Abortable {
  #isAborted = false;
  #reason: unknown;
  #listeners: (() => void)[] | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Each source of a page listens, and it may have many: Node would warn of a leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Aborts once. The default reason is that of `AbortController.abort`. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener();
    this.#controller?.abort(reason);
  }

  /** The listener is called once, and must not throw. It is never called where the abort was before. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#isAborted) (this.#listeners ??= []).push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners?.splice(at, 1);
  }
}
