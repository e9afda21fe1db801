/**
 * Purges that the app asks for: `purge` of `@sluice/preload`, and of `@sluice/react`. They go to the gateway in batches, the next one when the one
 * before is done, so that an app that purges without end costs the gateway little. It must not know what a page is.
 *
 * A purge by URL or prefix is one by a tag, too, for the HTML that workers keep. The pages go at once, and once more when no worker uses old
 * HTML for them any more.
 */
import { pageTag } from '#host/caches.js';
import type { Pages } from '../api.js';
import type { Control } from '../control/control.js';
import type { PurgeTarget } from '../control/messages.js';
import { purgeParts } from '../host/component-cache.js';
import { later, nextTurn } from '../timers.js';

/** Maximum number of purges in a batch. */
const BATCH_MAX = 100;
/** Maximum number of different purges that wait for their batch. */
const WAITING_MAX = 10_000;
/** Pause between the end of a batch and the next one. */
const PAUSE_MS = 10;

interface Waiting {
  readonly wanted: PurgeTarget;
  readonly done: ((count: number) => void)[];
}

export class Purges {
  readonly #control: Control;
  /** Purges by their meaning: callers that ask for the same again wait for the same. */
  readonly #waiting = new Map<string, Waiting>();
  #batch: readonly Waiting[] = [];
  #serial = 0;
  #isOpen = false;
  #isDue = false;

  constructor(control: Control) {
    this.#control = control;
    control.onOpen(() => this.#open());
    control.onMessage((message) => {
      if (message.type === 'purged') this.#done(message.serial, message.counts);
      if (message.type !== 'purge-parts') return;
      if (message.all) purgeParts(undefined);
      else for (const tag of message.tags) purgeParts(tag);
      control.send({ type: 'parts-purged', serial: message.serial });
    });
  }

  /**
   * Resolves with the number of pages when the gateway has purged them. Before this process serves, and where it never does, it resolves
   * with 0 at once, so that an app may wait for it before it listens. The purge is done when the process serves.
   */
  readonly purge = (pages: Pages): Promise<number> => {
    const tag = pages.tag ?? pageTag(pages);
    // What this process would put into the next page at once.
    if (tag !== undefined || pages.all === true) purgeParts(tag);
    if (this.#isOpen) return this.#purge(pages);
    if (this.#waiting.has(JSON.stringify(wantedOf(pages)))) return Promise.resolve(0);
    if (this.#waiting.size >= WAITING_MAX) return Promise.reject(tooMany());
    this.#purge(pages).catch(() => {});
    return Promise.resolve(0);
  };

  /** Purges the pages and not the HTML that workers keep. Resolves with their number when the gateway has done so. */
  readonly purgePages = (pages: Pages): Promise<number> => {
    const wanted = wantedOf(pages);
    const key = JSON.stringify(wanted);
    let waiting = this.#waiting.get(key);
    if (waiting === undefined) {
      if (this.#waiting.size >= WAITING_MAX) return Promise.reject(tooMany());
      waiting = { wanted, done: [] };
      this.#waiting.set(key, waiting);
    }
    const { done } = waiting;
    const purged = new Promise<number>((resolve) => done.push(resolve));
    if (this.#isOpen) this.#soon(() => nextTurn(() => this.#send()));
    return purged;
  };

  async #purge(pages: Pages): Promise<number> {
    const tag = pageTag(pages);
    if (tag === undefined) return this.purgePages(pages);
    const [first] = await Promise.all([this.purgePages(pages), this.purgePages({ tag })]);
    // A page that was rendered meanwhile may be of old HTML.
    const again = await this.purgePages(pages);
    return pages.soft === true ? Math.max(first, again) : first + again;
  }

  /** The gateway hears this process from now on. */
  #open(): void {
    this.#isOpen = true;
    if (this.#waiting.size > 0) this.#soon(() => this.#send());
  }

  #soon(send: () => void): void {
    if (this.#isDue || this.#batch.length > 0) return;
    this.#isDue = true;
    send();
  }

  #send(): void {
    this.#isDue = false;
    const batch = [...this.#waiting].slice(0, BATCH_MAX);
    if (batch.length === 0) return;
    this.#serial += 1;
    const purges = batch.map(([, { wanted }]) => wanted);
    if (!this.#control.send({ type: 'purge', serial: this.#serial, purges })) {
      this.#isDue = true;
      later(() => this.#send(), PAUSE_MS);
      return;
    }
    this.#batch = batch.map(([, waiting]) => waiting);
    for (const [key] of batch) this.#waiting.delete(key);
  }

  #done(serial: number, counts: readonly number[]): void {
    if (serial !== this.#serial) return;
    for (const [at, { done }] of this.#batch.entries()) for (const tell of done) tell(counts[at] ?? 0);
    this.#batch = [];
    if (this.#waiting.size === 0) return;
    this.#isDue = true;
    later(() => this.#send(), PAUSE_MS);
  }
}

function wantedOf({ url, prefix, tag, all, soft }: Pages): PurgeTarget {
  return {
    ...(url !== undefined && { url }),
    ...(prefix !== undefined && { prefix }),
    ...(tag !== undefined && { tag }),
    ...(all === true && { all }),
    ...(soft === true && { soft }),
  };
}

function tooMany(): RangeError {
  return new RangeError(
    `${WAITING_MAX} purges wait for the gateway: purge by a tag that pages share, by prefix, or { all: true }`,
  );
}
