/**
 * Writes the boxes of a page in the order of the document. Boxes that are not there yet are waited for, or leave a place that
 * is filled when they are. It must not know where the text goes or how boxes are rendered.
 */
import type { Boxes, Result } from './boxes.js';
import { boxMarkup, FILL_END, fillStart, pendingMarkup } from './html.js';
import type { Box, Deferred, Item } from './plan.js';

export type Fill = 'in-order' | 'as-ready';

export interface Out {
  /** A promise where the writer has to wait. */
  write(text: string): Promise<void> | undefined;
  /** Something is waited for: what was written may go. */
  flush(): Promise<void> | undefined;
  readonly destroyed: boolean;
}

export interface WriterOptions {
  readonly boxes: Boxes;
  readonly out: Out;
  readonly fill: Fill;
  readonly placeholder: (item: Item) => string;
  readonly onError: (error: Error, result: Result) => void;
}

export class Writer {
  readonly #options: WriterOptions;
  /** Places that wait to be filled, by what is waited for. */
  readonly #pending = new Map<Item, Promise<Item>>();
  constructor(options: WriterOptions) {
    this.#options = options;
  }

  async write(items: readonly Item[]): Promise<void> {
    await this.#items(items, this.#options.fill);
  }

  /** Fills the places that were left: the first that is ready first. Boxes in a filled place are in order. */
  async fill(): Promise<void> {
    const { out } = this.#options;
    while (this.#pending.size > 0 && !out.destroyed) {
      await out.flush();
      const item = await Promise.race(this.#pending.values());
      this.#pending.delete(item);
      await out.write(fillStart(item.id));
      await this.#items([item], 'in-order');
      await out.write(FILL_END);
    }
  }

  async #items(items: readonly Item[], fill: Fill): Promise<void> {
    for (const item of items) {
      if (this.#options.out.destroyed) return;
      if (item.kind === 'box') await this.#box(item, fill);
      else await this.#deferred(item, fill);
    }
  }

  async #deferred(deferred: Deferred, fill: Fill): Promise<void> {
    const { boxes } = this.#options;
    const settled = boxes.settledItems(deferred);
    if (settled !== undefined) return this.#items(settled, fill);
    if (fill === 'as-ready') return this.#leavePlace(deferred, boxes.items(deferred));
    await this.#options.out.flush();
    return this.#items(await boxes.items(deferred), fill);
  }

  async #box(box: Box, fill: Fill): Promise<void> {
    const { boxes, out } = this.#options;
    let result = boxes.settled(box);
    if (result === undefined) {
      await out.flush();
      if (fill === 'as-ready') {
        await Promise.race([boxes.result(box), boxes.waits(box)]);
        result = boxes.settled(box);
        if (result === undefined) return this.#leavePlace(box, boxes.result(box));
      } else result = await boxes.result(box);
    }
    await this.#result(result, fill);
  }

  async #result(result: Result, fill: Fill): Promise<void> {
    const { out, onError } = this.#options;
    const { texts, slots } = boxMarkup(result, (error) => onError(error, result));
    for (const [index, text] of texts.entries()) {
      await out.write(text);
      const slot = slots[index];
      if (slot !== undefined) await this.#items(result.box.slots.get(slot) ?? [], fill);
    }
  }

  async #leavePlace(item: Item, ready: Promise<unknown>): Promise<void> {
    const { out, placeholder } = this.#options;
    this.#pending.set(
      item,
      ready.then(() => item),
    );
    await out.write(pendingMarkup(item, placeholder(item)));
  }
}
