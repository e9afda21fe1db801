// What runs in Chromium: a surface, and batches in the text form.
import { readEvents } from '../../../src/stream/events.ts';
import { parseBatch } from '../../../src/stream/parse.ts';
import { type BrowserOptions, type BrowserSurface, browserSurface } from '../../../src/surfaces/browser.ts';

export interface Page {
  surface?: BrowserSurface;
  readonly said: string[];
  open(options: BrowserOptions): Promise<void>;
  commit(text: string, cause?: number): void;
  /** Waits until nothing moves, and all pictures are there. */
  still(): Promise<void>;
}

const page: Page = {
  said: [],
  async open(options) {
    page.surface = await browserSurface(options);
    const say =
      (name: string) =>
      (...values: unknown[]): number =>
        page.said.push([name, ...values].join(' '));
    page.surface.listen((words, length, strings) =>
      readEvents(words, length, strings, {
        key: (phase, sequence, _time, key) => say('key')(phase, sequence, key),
        layout: say('layout'),
        animationEnd: say('end'),
        image: say('image'),
        memory: say('memory'),
        resize: say('resize'),
        frame: (cause) => say('frame')(cause),
      }),
    );
  },
  commit(text, cause = 0) {
    const batch = parseBatch(text);
    page.surface?.commit(batch.words, batch.length, batch.strings, cause);
  },
  async still() {
    do await new Promise((resolve) => requestAnimationFrame(resolve));
    while (page.surface?.isBusy === true);
  },
};

Object.assign(globalThis, { page });
