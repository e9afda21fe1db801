/**
 * Writes the boxes of a page in the order of the document. A box that is there is written at once, also in the turn that renders it: its
 * HTML becomes bytes before the next box is rendered. Boxes that are not there yet are waited for, or leave a place that is filled when
 * they are. It must not know where the text goes or how boxes are rendered.
 */
import { toError } from '../thrown.js';
import type { Waiter } from './box-task.js';
import type { Boxes } from './boxes.js';
import { FILL_END, fillStart, pendingMarkup, writeBox, type HtmlSink, type Part } from './html.js';
import type { Box, Deferred, Item } from './plan.js';
import type { Result } from './results.js';
import { PlacedHtml } from '../tasks/placed-html.js';

export type Fill = 'in-order' | 'as-ready';

export interface Out extends HtmlSink {
  /** A promise where the writer has to wait. */
  drained(): Promise<void> | undefined;
  /** Flushes, because something is waited for: what was written may go. */
  flush(): void;
  readonly destroyed: boolean;
}

export interface WriterOptions {
  readonly boxes: Boxes;
  readonly out: Out;
  readonly fill: Fill;
  readonly placeholder: (item: Item) => string;
  readonly onError: (error: Error, result: Result) => void;
}

/** Items, or parts of a box with slots, that are written one after the other. */
interface Level {
  readonly steps: readonly (Item | Part)[];
  next: number;
}

export class Writer implements Waiter {
  readonly #options: WriterOptions;
  /** Places that wait to be filled, by what is waited for. */
  readonly #pending = new Map<Item, Promise<Item>>();
  /** Levels that are not written to their end, the innermost last. */
  readonly #levels: Level[] = [];
  #fill: Fill;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#fill = options.fill;
  }

  /** Resolves when all is written, or has a place. */
  async write(items: readonly Item[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#levels.push({ steps: items, next: 0 });
      this.#run();
    });
  }

  /** Fills the places that were left: the first that is ready first. Boxes in a filled place are in order. */
  async fill(): Promise<void> {
    const { out } = this.#options;
    this.#fill = 'in-order';
    while (this.#pending.size > 0 && !out.destroyed) {
      out.flush();
      const item = await Promise.race(this.#pending.values());
      this.#pending.delete(item);
      out.write(fillStart(item.id));
      await this.write([item]);
      out.write(FILL_END);
      await out.drained();
    }
  }

  /** The box that it waits for is there. */
  settled(): void {
    this.#run();
  }

  #run(): void {
    try {
      const { out } = this.#options;
      let isGoing = true;
      while (isGoing && this.#levels.length > 0 && !out.destroyed) isGoing = this.#step();
      if (isGoing) {
        this.#levels.length = 0;
        this.#resolve();
      }
    } catch (error) {
      this.#reject(toError(error));
    }
  }

  /** Takes one step. False where it waits for something, after which it runs again. */
  #step(): boolean {
    const level = this.#levels.at(-1) as Level;
    const step = level.steps[level.next];
    if (step === undefined) {
      this.#levels.pop();
      return this.#isDrained();
    }
    if (typeof step === 'string' || step instanceof PlacedHtml) {
      level.next += 1;
      this.#options.out.write(step);
      return true;
    }
    if ('items' in step && !('kind' in step)) {
      level.next += 1;
      this.#levels.push({ steps: step.items, next: 0 });
      return true;
    }
    return step.kind === 'deferred' ? this.#deferred(step, level) : this.#box(step, level);
  }

  #box(box: Box, level: Level): boolean {
    const { boxes, out, onError } = this.#options;
    const result = boxes.settled(box);
    if (result === undefined) return this.#awaitBox(box, level);
    level.next += 1;
    const parts = writeBox(result, out, onError);
    if (parts === undefined) return this.#isDrained();
    this.#levels.push({ steps: parts, next: 0 });
    return true;
  }

  #deferred(deferred: Deferred, level: Level): boolean {
    const { boxes, out } = this.#options;
    const settled = boxes.settledItems(deferred);
    if (settled !== undefined) {
      level.next += 1;
      this.#levels.push({ steps: settled, next: 0 });
      return true;
    }
    if (this.#fill === 'as-ready') {
      this.#leavePlace(deferred, boxes.items(deferred), level);
      return this.#isDrained();
    }
    out.flush();
    this.#after(boxes.items(deferred));
    return false;
  }

  #awaitBox(box: Box, level: Level): boolean {
    const { boxes, out } = this.#options;
    out.flush();
    if (this.#fill === 'in-order') {
      boxes.await(box, this);
      return false;
    }
    const isClear = Promise.race([boxes.result(box), boxes.waits(box)]).then(async () => {
      if (boxes.settled(box) === undefined) this.#leavePlace(box, boxes.result(box), level);
      await out.drained();
    });
    this.#after(isClear);
    return false;
  }

  #leavePlace(item: Item, ready: Promise<unknown>, level: Level): void {
    const { out, placeholder } = this.#options;
    level.next += 1;
    const filled = ready.then(() => item);
    this.#pending.set(item, filled);
    out.write(pendingMarkup(item, placeholder(item)));
  }

  #isDrained(): boolean {
    const draining = this.#options.out.drained();
    if (draining === undefined) return true;
    this.#after(draining);
    return false;
  }

  /** Runs again after something. */
  #after(work: Promise<unknown>): void {
    work.then(
      () => this.#run(),
      (error: unknown) => this.#reject(toError(error)),
    );
  }
}
