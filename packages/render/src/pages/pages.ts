/**
 * Pages from trees and data, for browsers and for other clients. `createPages` takes what all pages share. It must not know
 * HTTP servers: `http.ts` has the handlers.
 */
import type { IncomingMessage } from 'node:http';
import { referenceOf } from '../css/order.js';
import { Styles } from '../css/styles.js';
import { visitorOf } from '../dial/visitor.js';
import { createTaskQueue } from '../tasks/queue.js';
import { Experiments, type ListedVariant } from '../variants/experiments.js';
import { assetsOf, readAssets } from '../boxes/assets.js';
import { checkTree } from './check.js';
import { deliverBoxes, deliverHtml, deliverJson } from './deliver.js';
import { errorLog } from './error-log.js';
import { asksForBoxes, navigationOf } from './navigation.js';
import {
  hostOf,
  type BoxAnswer,
  type Page,
  type PageInput,
  type PagesOptions,
  type RenderOptions,
  type Shared,
  type VisitedOptions,
} from './options.js';
import { Overruns } from './overruns.js';
import { boxAnswer } from './one-box.js';
import { prepare } from './prepare.js';
import { Sources } from './sources.js';
import type { PageTree } from './tree.js';

export class Pages {
  readonly #shared: Shared;

  /** Throws where options are none: an origin, an experiment, a manifest. */
  constructor(options: PagesOptions) {
    const { registry, queue = createTaskQueue(), styles, sources, experiments, overruns } = options;
    const assets = typeof options.assets === 'string' ? readAssets(options.assets) : options.assets;
    this.#shared = {
      options,
      registry,
      queue,
      assets,
      styles: new Styles(registry, {
        filesOf: (component) => assetsOf(assets, referenceOf(component))?.css,
        ...styles,
      }),
      sources: new Sources(sources),
      navigation: navigationOf(options.navigation, assets),
      experiments: new Experiments(experiments),
      onError: options.onError ?? errorLog(),
      isDevelopment: process.env['NODE_ENV'] === 'development',
      overruns: overruns === false ? undefined : new Overruns(overruns, () => hostOf(options)),
    };
  }

  get styles(): Styles {
    return this.#shared.styles;
  }

  /**
   * Resolves when status and headers are decided: required boxes and the page's own data are there. Rejects with
   * `InvalidTree`, also for `format: 'boxes'` without `navigation`; `SourceError` where the page's data did not come; what `data` threw; or an
   * `AbortError` where the client left first.
   */
  async render(tree: PageTree, data: PageInput = {}, options: RenderOptions = {}): Promise<Page> {
    checkTree(tree);
    const prepared = await prepare(this.#shared, tree, data, this.#withVisitor(options));
    try {
      if (options.format === 'json') return await deliverJson(prepared);
      return await (options.format === 'boxes' ? deliverBoxes(prepared) : deliverHtml(prepared));
    } catch (error) {
      prepared.deadline.clear();
      prepared.leave();
      throw error;
    }
  }

  /** Form that a browser's request wants: the boxes alone, where its runtime navigates, else the document. */
  formatOf(request: IncomingMessage): 'html' | 'boxes' {
    return this.#shared.navigation !== undefined && asksForBoxes(request) ? 'boxes' : 'html';
  }

  /**
   * Returns the data with which a browser fills one hole. Undefined if the page has no such box, or one that is not the browser's:
   * nothing is asked then. Rejects with a `SourceError` if the box's data did not come, and with a `LateError` if its time is up.
   */
  async renderBox(
    tree: PageTree,
    id: string,
    data: PageInput = {},
    options: RenderOptions = {},
  ): Promise<BoxAnswer | undefined> {
    checkTree(tree);
    return boxAnswer(this.#shared, tree, id, data, this.#withVisitor(options));
  }

  /** Every arm of every experiment, with share and age. */
  variants(): readonly ListedVariant[] {
    return this.#shared.experiments.list();
  }

  /** Reads components and styles ahead, so that the first page needs not. Rejects where one cannot be loaded. */
  async preload(names: Iterable<string>): Promise<void> {
    const { registry, styles } = this.#shared;
    const found = await Promise.all([...names].map(async (name) => registry.find(name)));
    await styles.prepare(found.filter((component) => component !== undefined));
  }

  #withVisitor(options: RenderOptions): VisitedOptions {
    const { request, visitor: given } = options;
    const told =
      request === undefined
        ? { visitor: { id: '', device: 'desktop', cookies: {} } as const, setCookie: undefined }
        : visitorOf(request, this.#shared.options.visitor);
    return {
      ...options,
      visitor: { ...told.visitor, ...given },
      setCookie: given?.id === undefined ? told.setCookie : undefined,
    };
  }
}

export function createPages(options: PagesOptions): Pages {
  return new Pages(options);
}
