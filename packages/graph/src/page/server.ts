/** `@sluice/graph/server`: the graph of one page on the server. */
import { Model, type ModelOptions } from '../model/model.js';
import { toPathSet } from '../paths/index.js';
import { pageUse } from '../seeing/uses.js';
import type { DataSource, JsonGraph, PathInput, PathSet } from '../types.js';
import { type GraphPage, setCurrentPage } from './current.js';
import { sourceUntil } from './leaving.js';
import { pick } from './pick.js';
import { Quiet } from './quiet.js';
import { stateScript } from './state.js';
import { pages } from './storage.js';

/** Options of a page's graph: those of its model. The source is of one request, with the rights of its visitor. */
export interface PageGraphOptions extends ModelOptions {
  /** Aborts when nobody waits for the page any more: requests to the source end, and none follows. */
  readonly signal?: AbortSignal;
}

/** Graph of one page: its model, and what its components have read. */
export class PageGraph implements GraphPage {
  readonly model: Model;
  readonly #whole: Model;
  readonly #read: PathSet[] = [];
  readonly #quiet = new Quiet(setImmediate);
  readonly #use = pageUse();

  constructor({ signal, ...options }: PageGraphOptions) {
    const { source } = options;
    this.#whole = new Model(
      source === undefined ? options : { ...options, source: this.#sourceFor(source, signal) },
    );
    this.model = this.#whole.batch((send) => this.#quiet.await(send));
    setCurrentPage(current);
  }

  #sourceFor(source: DataSource, signal: AbortSignal | undefined): DataSource {
    const bound = signal === undefined ? source : sourceUntil(signal, source);
    return this.#use === undefined ? bound : this.#use.watched(bound);
  }

  /** Calls `work`, in which, and in what it starts, components find the model. */
  run<T>(work: () => T): T {
    return pages.run(this, work);
  }

  noteRead(model: Model, paths: readonly PathInput[]): void {
    this.#quiet.note();
    // Another model's reads say nothing about this one's values.
    if (!this.#whole.isViewOf(model)) return;
    const base = model.getPath();
    for (const path of paths) this.#read.push([...base, ...toPathSet(path)]);
  }

  /** Values that components have read so far, and no others: the `cache` of a model of a client that is no browser. */
  state(): JsonGraph {
    const state = pick(this.#whole.getCache(), this.#read);
    this.#use?.tell(state);
    return state;
  }

  /**
   * Script with the values that components have read so far, and no others. It belongs at the end of the document.
   *
   * @param nonce - Nonce of a content security policy, base64.
   */
  script(nonce?: string): string {
    return stateScript(this.state(), nonce, this.#use !== undefined);
  }
}

/** Page of what runs. */
function current(): GraphPage | undefined {
  return pages.getStore();
}

/** Makes the graph of one page. Each page has its own: what one visitor may read is not for another. */
export function createPageGraph(options: PageGraphOptions): PageGraph {
  return new PageGraph(options);
}
