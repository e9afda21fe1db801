/** Storage of the process, which copies of this package find at a symbol. It must not know models. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { GraphPage } from './current.js';

const PAGES = Symbol.for('sluice.graph.pages.1');

const holder = globalThis as { [PAGES]?: AsyncLocalStorage<GraphPage> };

/** Pages by what runs for them: one for all copies of this package, each of which may have made the page. */
export const pages = (holder[PAGES] ??= new AsyncLocalStorage<GraphPage>());
