/** What the app needs and an engine without a browser may lack. */

class Signal {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_name: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_name: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#listeners) listener();
  }
}

class Controller {
  readonly signal = new Signal();

  abort(): void {
    this.signal.abort();
  }
}

const globals = globalThis as { AbortController?: unknown };
globals.AbortController ??= Controller;
