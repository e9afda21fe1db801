/**
 * Options of `hypernova()`: those that Hypernova has, by their names there, and what becomes of each. Nothing is ignored
 * silently that would change what is rendered. `docs/guide/fragments.md` has the table.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { BodyOptions } from '../http/body.js';
import type { PropsLimits } from '../tasks/props.js';
import type { QueueOptions } from '../tasks/queue.js';
import type { JobContext, Plugin } from './plugins.js';

/** Renders one component's data to the HTML that goes to the host. */
export type RenderFragment = (data: never) => string | Promise<string>;

/** The parts of an Express app that are needed. */
export interface ExpressApp {
  use(handler: (request: IncomingMessage, response: never, next: (error?: unknown) => void) => void): unknown;
  post(path: string, ...handlers: never[]): unknown;
  listen(...parts: never[]): Server;
}

export interface Logger {
  log(level: 'info' | 'error', message: string, meta?: unknown): unknown;
}

export interface HypernovaOptions extends QueueOptions, PropsLimits {
  /** A function of the data, or nothing where there is no such component. */
  readonly getComponent: (name: string, context: JobContext) => unknown;
  /** Default `/batch`. */
  readonly endpoint?: string;
  /** Default: the environment's `PORT`, else 8080. */
  readonly port?: number;
  /** Default `0.0.0.0`. */
  readonly host?: string;
  /** Arguments of `listen` in place of port and host. */
  readonly listenArgs?: readonly unknown[] | null;
  readonly plugins?: readonly Plugin[];
  /** Default true, as Hypernova's manual says. Its code has it false, by a misspelt name. */
  readonly processJobsConcurrently?: boolean;
  readonly bodyParser?: BodyParserOptions;
  readonly loggerInstance?: Logger;
  /** Returns an Express app, which the batches are added to. Default: a server of Node's own. */
  readonly createApplication?: () => ExpressApp;
  /** Jobs of one batch; default 1,000. */
  readonly jobsMax?: number;
  /** Option without effect: Sluice decides how many workers run. */
  readonly getCPUs?: (count: number) => number;
  /** Option without effect: there is one process in any case. */
  readonly devMode?: boolean;
  /** Option without effect: see `loggerInstance`. */
  readonly logger?: Readonly<Record<string, unknown>>;
  /** Option for plugins, which get all options. */
  readonly files?: readonly unknown[];
}

/** Options of body-parser that are kept. */
export interface BodyParserOptions {
  /** Bytes, or a text such as `2mb`; default 1,024,000. */
  readonly limit?: number | string;
  readonly inflate?: boolean;
  readonly verify?: (request: IncomingMessage, response: undefined, bytes: Buffer, encoding: string) => void;
  readonly reviver?: (key: string, value: unknown) => unknown;
}

const BODY_BYTES_MAX = 1_024_000;
const BODY_OPTIONS = new Set(['limit', 'inflate', 'verify', 'reviver']);
/** 1,024 to the power of the index. */
const UNITS = ['b', 'kb', 'mb', 'gb'];

/** Throws a `TypeError` that names the option and what to do. */
export function checkOptions(options: HypernovaOptions, hasOnServer: boolean): void {
  if (typeof options.getComponent !== 'function') {
    throw new TypeError(
      'hypernova() needs `getComponent`, a function that returns the render function of a name',
    );
  }
  if (options.getCPUs !== undefined && typeof options.getCPUs !== 'function') {
    throw new TypeError('`getCPUs` is not a function; remove it, because Sluice sets the number of workers');
  }
  if (hasOnServer && options.createApplication === undefined) {
    throw new TypeError('A callback for the app needs `createApplication: () => express()`');
  }
  for (const name of Object.keys(options.bodyParser ?? {})) {
    if (!BODY_OPTIONS.has(name)) {
      throw new TypeError(`\`bodyParser.${name}\` is not supported; ${[...BODY_OPTIONS].join(', ')} are`);
    }
  }
}

export function bodyOptions({ bodyParser = {} }: HypernovaOptions): BodyOptions {
  const { limit = BODY_BYTES_MAX, inflate, verify, reviver } = bodyParser;
  return {
    bytesMax: bytesOf(limit),
    inflates: inflate,
    reviver,
    verify: verify && ((bytes, request, encoding) => verify(request, undefined, bytes, encoding)),
  };
}

export function isExpressApp(app: unknown): app is ExpressApp {
  const parts = app as Partial<Record<'use' | 'post' | 'listen', unknown>> | undefined | null;
  return [parts?.use, parts?.post, parts?.listen].every((part) => typeof part === 'function');
}

function bytesOf(limit: number | string): number {
  if (typeof limit === 'number') return limit;
  const [, number, unit = 'b'] = /^\s*(\d+(?:\.\d+)?)\s*([kmg]?b)?\s*$/i.exec(limit) ?? [];
  if (number === undefined)
    throw new TypeError(`\`bodyParser.limit\` is "${limit}", not bytes or a text such as 2mb`);
  return Math.floor(Number(number) * 1024 ** UNITS.indexOf(unit.toLowerCase()));
}
