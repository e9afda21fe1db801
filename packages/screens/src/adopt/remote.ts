// Screens of a device that cannot run the app: the server renders each one. A key goes to the server, which answers with the screen after it.
import type { Surface } from '../surfaces/surface.js';
import type { ScreenJson } from './json.js';
import { showScreen, type Shown } from './show.js';

/** Answer of `screenHandler` of `@sluice/screens/server`. */
export interface PlacedScreen {
  readonly screen: ScreenJson;
  /** Place of the app, in its own words. */
  readonly at: string;
}

/** Facts of a key that the server needs. */
export interface KeyQuery {
  readonly at: string;
  /** Widget with the focus, as `focus` of the screen says. */
  readonly focus: number;
  readonly key: string;
}

export interface RemoteOptions {
  /** Asks the server for the screen after a key. */
  readonly ask: (query: KeyQuery) => Promise<PlacedScreen>;
  /** Called when a request has failed. The screen stays, and the next key asks again. */
  readonly onError?: (error: unknown) => void;
}

const PRESSED = 0;
const REPEATED = 1;

export class RemoteScreens {
  readonly #shown: Shown;
  readonly #options: RemoteOptions;
  #now: PlacedScreen;
  #isAsking = false;
  #isStopped = false;

  constructor(surface: Surface, first: PlacedScreen, options: RemoteOptions) {
    this.#now = first;
    this.#options = options;
    this.#shown = showScreen(surface, first.screen);
    this.#shown.onKeys = () => void this.#ask();
  }

  /** Place of the app. */
  get at(): string {
    return this.#now.at;
  }

  /** Asks for no further screen. */
  stop(): void {
    this.#isStopped = true;
    this.#shown.onKeys = null;
  }

  /** Asks for one key after the other. Repeats that came while a request was under way are dropped, so that a held key does not run on. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    for (let isLate = false; ; isLate = true) {
      const keys = this.#shown
        .takeKeys()
        .filter(({ phase }) => phase === PRESSED || (phase === REPEATED && !isLate));
      if (keys.length === 0) break;
      for (const { key, sequence } of keys) if (!(await this.#key(key, sequence))) break;
    }
    this.#isAsking = false;
  }

  async #key(key: string, sequence: number): Promise<boolean> {
    try {
      const { at, screen } = this.#now;
      const next = await this.#options.ask({ at, focus: screen.focus, key });
      if (this.#isStopped) return false;
      this.#shown.show(next.screen, sequence);
      this.#now = next;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(error: unknown): void {
    try {
      this.#options.onError?.(error);
    } catch (thrown) {
      // The next key asks again all the same.
      console.error(thrown);
    }
  }
}

/** Runs an app on the server, key by key, and shows its screens on this surface. */
export function remoteScreens(surface: Surface, first: PlacedScreen, options: RemoteOptions): RemoteScreens {
  return new RemoteScreens(surface, first, options);
}
