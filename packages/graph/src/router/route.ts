/** Routes as apps write them, and as the router keeps them. */
import type { Envelope, JsonGraph, PathInput, PathSet } from '../types.js';
import type { RouteContext } from './context.js';
import type { Match } from './match.js';
import type { PlainKey } from './sets.js';
import type { RouteStats } from './stats.js';
import { routeSteps, type MatchedPath, type RouteStep } from './syntax.js';
import type { Method } from './trie.js';

/** Value of a path. Objects without `$type` become atoms; a path may be a path set, all of whose paths get the value. */
export interface RouteValue {
  readonly path: PathInput;
  readonly value: unknown;
}

/** Path whose values caches have to drop; only calls give it. */
export interface RouteInvalidation {
  readonly path: PathInput;
  readonly invalidated: true;
}

/** Part of a graph, with values along the requested paths. Only calls have to give `paths`. */
export interface RouteGraph {
  readonly jsonGraph: JsonGraph | object;
  readonly paths?: readonly PathSet[];
  readonly invalidated?: readonly PathSet[];
}

export type RoutePart = RouteValue | RouteInvalidation | RouteGraph | Envelope | undefined | null | void;
export type RouteParts = RoutePart | readonly RoutePart[];
/** Result of a handler: values or graphs, at once, later, or one after the other. */
export type RouteOutput = RouteParts | Promise<RouteParts> | AsyncIterable<RouteParts>;

/** Whether the paths of a match may be used: all, none, or those that a function is true for. */
export type Authorization = boolean | ((path: readonly PlainKey[]) => boolean);

/** Paths that a client wants after a call. */
export interface CallWishes {
  /** Paths below each reference that the call gives. */
  readonly refSuffixes: readonly PathSet[];
  /** Paths relative to the object that has the function. */
  readonly thisPaths: readonly PathSet[];
}

/** Functions of a route. Each is called once a request for all keys that can be asked for together. */
export interface RouteHandlers<M, Data> {
  get?(match: M, context: RouteContext<Data>): RouteOutput;
  /** Sets values. A handler without a result has set them as they were sent. */
  set?(values: JsonGraph, context: RouteContext<Data>, match: M): RouteOutput;
  call?(match: M, args: readonly unknown[], context: RouteContext<Data>, wishes: CallWishes): RouteOutput;
  /** Decides before each call of another function. Denied paths get an `$error` with status 403. */
  authorize?(match: M, context: RouteContext<Data>, method: Method): Authorization | Promise<Authorization>;
}

export interface RouteDefinition<Data = unknown> extends RouteHandlers<MatchedPath, Data> {
  readonly route: string;
}

/**
 * Makes a route whose handlers know the keys of its text:
 *
 * ```ts
 * route('titlesById[{integers:ids}]["name", "year"]', {
 *   get: async ({ ids, 2: fields }) => …, // ids: readonly number[], fields: readonly ('name' | 'year')[]
 * })
 * ```
 */
export function route<const Text extends string, Data = unknown>(
  text: Text,
  handlers: RouteHandlers<Match<Text>, Data>,
): RouteDefinition<Data> {
  // The text gives both the type of the match and the match itself.
  return { ...(handlers as unknown as RouteHandlers<MatchedPath, Data>), route: text };
}

/** Route of a router. */
export class Route<Data> {
  readonly text: string;
  readonly steps: readonly RouteStep[];
  readonly methods: ReadonlySet<Method>;
  readonly handlers: RouteHandlers<MatchedPath, Data>;
  readonly stats: Readonly<Record<Method, RouteStats>>;

  constructor(definition: RouteDefinition<Data>) {
    this.text = definition.route;
    this.steps = routeSteps(definition.route);
    this.methods = new Set((['get', 'set', 'call'] as const).filter((one) => definition[one] !== undefined));
    if (this.methods.size === 0) throw new Error(`The route ${this.text} has no get, set or call`);
    this.handlers = definition;
    this.stats = { get: noStats(), set: noStats(), call: noStats() };
  }
}

function noStats(): RouteStats {
  return { calls: 0, paths: 0, unanswered: 0, failures: 0, denied: 0, ms: 0, msMax: 0 };
}
