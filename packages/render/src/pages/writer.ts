/**
 * Writes the boxes of a page in the order of the document. Boxes that are not there yet are waited for, or leave a place that
 * is filled when they are. It must not know where the text goes or how boxes are rendered.
 */
import type { Boxes } from './boxes.js';
import { boxMarkup, FILL_END, fillStart, isHtml, pendingMarkup, type Part } from './html.js';
import type { Box, Deferred, Item } from './plan.js';
import type { Html } from '../tasks/placed-html.js';
import type { Result } from './results.js';

export type Fill = 'in-order' | 'as-ready';

export interface Out {
  write(html: Html): void;
  /** A promise where the writer has to wait. */
  drained(): Promise<void> | undefined;
  /** Flushes, because something is waited for: what was written may go. */
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
      out.write(fillStart(item.id));
      await this.#items([item], 'in-order');
      out.write(FILL_END);
      await out.drained();
    }
  }

  /** Undefined where all was there: boxes that are need no promises, and most are. */
  #items(items: readonly Item[], fill: Fill): Promise<void> | undefined {
    for (let index = 0; index < items.length; index += 1) {
      if (this.#options.out.destroyed) return undefined;
      const written = this.#item(items[index] as Item, fill);
      if (written !== undefined) return this.#itemsAfter(written, items, index + 1, fill);
    }
    return undefined;
  }

  async #itemsAfter(written: Promise<void>, items: readonly Item[], from: number, fill: Fill): Promise<void> {
    await written;
    for (let index = from; index < items.length && !this.#options.out.destroyed; index += 1) {
      const item = items[index];
      const more = item && this.#item(item, fill);
      if (more !== undefined) await more;
    }
  }

  #item(item: Item, fill: Fill): Promise<void> | undefined {
    const { boxes } = this.#options;
    if (item.kind === 'deferred') {
      const settled = boxes.settledItems(item);
      return settled === undefined ? this.#awaitDeferred(item, fill) : this.#items(settled, fill);
    }
    const result = boxes.settled(item);
    return result === undefined ? this.#awaitBox(item, fill) : this.#result(result, fill);
  }

  async #awaitDeferred(deferred: Deferred, fill: Fill): Promise<void> {
    const { boxes } = this.#options;
    if (fill === 'as-ready') return this.#leavePlace(deferred, boxes.items(deferred));
    await this.#options.out.flush();
    return this.#items(await boxes.items(deferred), fill);
  }

  async #awaitBox(box: Box, fill: Fill): Promise<void> {
    const { boxes, out } = this.#options;
    const flushed = out.flush();
    if (flushed !== undefined) await flushed;
    if (fill === 'as-ready') {
      await Promise.race([boxes.result(box), boxes.waits(box)]);
      if (boxes.settled(box) === undefined) return this.#leavePlace(box, boxes.result(box));
    }
    return this.#result(boxes.settled(box) ?? (await boxes.result(box)), fill);
  }

  #result(result: Result, fill: Fill): Promise<void> | undefined {
    const { out, onError } = this.#options;
    const parts = boxMarkup(result, (error) => onError(error, result));
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index] as Part;
      if (isHtml(part)) out.write(part);
      else {
        const inner = this.#items(result.box.slots.get(part.slot) ?? [], fill);
        if (inner !== undefined) return this.#partsAfter(inner, result.box, parts, index + 1, fill);
      }
    }
    return out.drained();
  }

  async #partsAfter(
    written: Promise<void>,
    box: Box,
    parts: readonly Part[],
    from: number,
    fill: Fill,
  ): Promise<void> {
    const { out } = this.#options;
    await written;
    for (const part of parts.slice(from)) {
      if (isHtml(part)) out.write(part);
      else await this.#items(box.slots.get(part.slot) ?? [], fill);
    }
    await out.drained();
  }

  async #leavePlace(item: Item, ready: Promise<unknown>): Promise<void> {
    const { out, placeholder } = this.#options;
    this.#pending.set(
      item,
      ready.then(() => item),
    );
    out.write(pendingMarkup(item, placeholder(item)));
    await out.drained();
  }
}
