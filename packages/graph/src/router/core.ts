/** Parts that all requests of a router share, and parts that the modules of one request share. */
import type { DataSource } from '../types.js';
import type { Batch } from './batch.js';
import type { SchemaChecks } from './checks.js';
import type { RequestContext } from './context.js';
import type { Emitter } from './emitter.js';
import type { Given } from './given.js';
import type { Branch } from './graph.js';
import type { Journal } from './journal.js';
import type { Lifetime } from './lifetime.js';
import type { Limits } from './limits.js';
import type { Outputs } from './outputs.js';
import type { Route } from './route.js';
import type { Trie } from './trie.js';

/** Parts of a router that its requests share. */
export interface Core<Data> {
  readonly trie: Trie<Route<Data>>;
  readonly checks: SchemaChecks | undefined;
  readonly limits: Limits;
  readonly unhandled: DataSource | undefined;
  readonly journal: Journal<Data>;
}

/** Parts of one request that its modules share. */
export interface Shared<Data> {
  readonly core: Core<Data>;
  readonly context: RequestContext<Data>;
  readonly graph: Branch;
  readonly outputs: Outputs;
  readonly lifetime: Lifetime;
  /** Values of a client that sets some. */
  readonly given: Given | undefined;
  /** Receiver of new values, in requests whose answer comes in parts. */
  readonly emitter: Emitter | undefined;
}

/** Receiver of batches whose values have come. */
export interface Levels<Data> {
  /** Notes that one call of a batch has ended. */
  closed(batch: Batch<Data>): void;
  /** Ends the request with an error. */
  fail(error: unknown): void;
}
