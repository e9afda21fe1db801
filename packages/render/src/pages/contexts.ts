/**
 * Contexts of the app's functions, whose `signal` is made when it is read. They are classes, because V8 gives each object literal with a
 * getter a hidden class of its own. That retains what the getter reaches, all data of a page, until the next full garbage collection. It must not know what is asked or made.
 */
import type { IncomingMessage } from 'node:http';
import type { Abort } from '../abort.js';
import type { Visitor } from '../dial/visitor.js';
import type { Allocation } from '../variants/experiments.js';

/** Context of a question to a source. */
export class AskContext {
  readonly request: IncomingMessage | undefined;
  readonly #stop: Abort;

  constructor(request: IncomingMessage | undefined, stop: Abort) {
    this.request = request;
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
}

/** Context of the function for a page's data. */
export class DataContext extends AskContext {
  readonly visitor: Visitor;
  readonly variants: Allocation;

  constructor(request: IncomingMessage | undefined, working: Abort, visitor: Visitor, variants: Allocation) {
    super(request, working);
    this.visitor = visitor;
    this.variants = variants;
  }
}
