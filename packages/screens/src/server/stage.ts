// Stage: an app that runs on the server for one screen. No effect and no timer of it runs.
import type { ReactNode } from 'react';
import type { ScreenJson } from '../adopt/json.js';
import type { Part } from '../adopt/picture.js';
import { createRoot, type ScreenRoot } from '../root.js';
import type { Surface } from '../surfaces/surface.js';
import { jsonOf, type Size } from './json.js';
import { report } from '../tree/errors.js';
import { LIMITS, ScreenLimitError, type ScreenLimits } from './limits.js';
import { Recorder } from './recorder.js';
import { currentState } from './state.js';

export interface StageOptions extends Size, ScreenLimits {
  /** Aborts when nobody waits for the screen any more. */
  readonly signal?: AbortSignal;
}

export class Stage {
  readonly #options: StageOptions;
  readonly #recorder: Recorder;
  readonly #root: ScreenRoot;
  /** Promises that components wait for, and those that handlers have returned. */
  readonly #waits = new Set<PromiseLike<unknown>>();
  readonly #errors: unknown[] = [];
  /** Ends the pause of `#next`; null while nobody waits. */
  #wake: (() => void) | null = null;
  /** Milliseconds since 1970. */
  readonly #end_ms: number;

  /**
   * @param layout Surface that lays the screen out. With one, layout effects and refs run, which keys need.
   * @param onEventError Called with errors of handlers of events, those of promises that they return included.
   */
  constructor(
    options: StageOptions,
    layout: Surface | null = null,
    onEventError: (error: unknown) => void = report,
  ) {
    const { timeoutMs = LIMITS.timeoutMs, widgetsMax = LIMITS.widgetsMax } = options;
    this.#options = options;
    this.#end_ms = Date.now() + timeoutMs;
    this.#recorder = new Recorder(options, widgetsMax, layout);
    this.#root = createRoot(this.#recorder, {
      effects: layout === null ? 'none' : 'layout',
      onWait: (wakeable) => this.#wait(wakeable),
      onEventError,
      onEventWork: (work) => {
        this.#wait(work);
        work.then(undefined, onEventError);
      },
      onUncaughtError: (error) => this.#errors.push(error),
      // A boundary shows it.
      onCaughtError: () => undefined,
    });
  }

  /** Widgets in the order of the screen's text. */
  get parts(): readonly Part[] {
    const parts: Part[] = [];
    const add = (part: Part): void => {
      parts.push(part);
      part.children.forEach(add);
    };
    this.#recorder.picture.root.children.forEach(add);
    return parts;
  }

  get root(): ScreenRoot {
    return this.#root;
  }

  render(element: ReactNode): void {
    this.#root.render(element);
  }

  /**
   * Renders until nothing waits, or the time is over. Returns false if parts show their fallbacks.
   *
   * @throws What the app has thrown, a `ScreenLimitError`, or the reason of the signal.
   */
  async settle(): Promise<boolean> {
    const { signal } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      this.#root.flush();
      this.#check();
      if (this.#waits.size === 0) return true;
      const left_ms = this.#end_ms - Date.now();
      if (left_ms <= 0) return false;
      await this.#next(left_ms);
    }
  }

  json(isWhole: boolean): ScreenJson {
    const state = currentState();
    const json: ScreenJson = {
      ...jsonOf(this.#recorder.picture, this.#options),
      ...(state !== undefined && { state }),
      ...(!isWhole && { partial: true }),
    };
    const { bytesMax = LIMITS.bytesMax } = this.#options;
    // A character is a byte at least.
    if (JSON.stringify(json).length > bytesMax)
      throw new ScreenLimitError(`The screen has more than ${bytesMax} bytes of JSON`);
    return json;
  }

  close(): void {
    this.#root.unmount();
    this.#root.flush();
  }

  #check(): void {
    if (this.#errors.length > 0) throw this.#errors[0];
    if (this.#recorder.isTooLarge)
      throw new ScreenLimitError(
        `The screen has more than ${this.#options.widgetsMax ?? LIMITS.widgetsMax} widgets`,
      );
  }

  #wait(wakeable: PromiseLike<unknown>): void {
    if (this.#waits.has(wakeable)) return;
    this.#waits.add(wakeable);
    const done = (): void => {
      this.#waits.delete(wakeable);
      this.#wake?.();
    };
    wakeable.then(done, done);
  }

  /** Waits for one of the promises, and a turn of the event loop, in which the root hears of it as well. */
  async #next(left_ms: number): Promise<void> {
    const { signal } = this.#options;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left_ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal?.addEventListener('abort', this.#wake);
    });
    if (this.#wake !== null) signal?.removeEventListener('abort', this.#wake);
    this.#wake = null;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
