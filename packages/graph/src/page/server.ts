/** `@sluice/graph/server`: the graph of one page on the server. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Model, type ModelOptions } from '../model/model.js';
import { toPathSet } from '../paths/index.js';
import { pageUse } from '../seeing/uses.js';
import type { PathInput, PathSet } from '../types.js';
import { type GraphPage, setCurrentPage } from './current.js';
import { pick } from './pick.js';
import { Quiet } from './quiet.js';
import { stateScript } from './state.js';

const pages = new AsyncLocalStorage<GraphPage>();

/** Options of a page's graph: those of its model. The source is of one request, with the rights of its visitor. */
export type PageGraphOptions = ModelOptions;

/** Graph of one page: its model, and what its components have read. */
export class PageGraph implements GraphPage {
  readonly model: Model;
  readonly #whole: Model;
  readonly #read: PathSet[] = [];
  readonly #quiet = new Quiet(setImmediate);
  readonly #use = pageUse();

  constructor(options: PageGraphOptions) {
    const { source } = options;
    const isSeen = this.#use !== undefined && source !== undefined;
    this.#whole = new Model(isSeen ? { ...options, source: this.#use.watched(source) } : options);
    this.model = this.#whole.batch((send) => this.#quiet.await(send));
    setCurrentPage(() => pages.getStore());
  }

  /** Calls `work`, in which, and in what it starts, components find the model. */
  run<T>(work: () => T): T {
    return pages.run(this, work);
  }

  noteRead(model: Model, paths: readonly PathInput[]): void {
    this.#quiet.note();
    const base = model.getPath();
    for (const path of paths) this.#read.push([...base, ...toPathSet(path)]);
  }

  /**
   * Script with the values that components have read so far, and no others. It belongs at the end of the document.
   *
   * @param nonce - Nonce of a content security policy, base64.
   */
  script(nonce?: string): string {
    const state = pick(this.#whole.getCache(), this.#read);
    this.#use?.tell(state);
    return stateScript(state, nonce, this.#use !== undefined);
  }
}

/** Makes the graph of one page. Each page has its own: what one visitor may read is not for another. */
export function createPageGraph(options: PageGraphOptions): PageGraph {
  return new PageGraph(options);
}
