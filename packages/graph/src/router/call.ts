/** Calls of functions: the path is followed to the function's route, whose result says what changed, and paths are read after it. */
import { countPaths, toPathSet } from '../paths/index.js';
import type { Envelope, Path, PathSet } from '../types.js';
import type { RequestContext } from './context.js';
import type { Core } from './core.js';
import { routeError, RouteError } from './errors.js';
import { isRef, leafOf } from './graph.js';
import { singles, writeAt } from './outputs.js';
import type { Route, RouteOutput, RoutePart } from './route.js';
import { isTrue } from './guard.js';
import type { Journal } from './journal.js';
import type { Run } from './run.js';
import { joined, pathSetOf, plainKey, plainKeys, plainSets, type PlainKey, type Sets } from './sets.js';
import { matchedPath } from './syntax.js';
import { partsOf } from './unhandled.js';

interface CallRequest {
  readonly path: Path;
  readonly args: readonly unknown[];
  readonly refSuffixes: readonly Sets[];
  readonly thisPaths: readonly Sets[];
}

/** Rejects with what the function threw where it is a `RouteError`, and with an error without its message otherwise. */
export async function callRoute<Data>(
  run: Run<Data>,
  core: Core<Data>,
  context: RequestContext<Data>,
  request: CallRequest,
): Promise<Envelope> {
  const path = request.path.map(plainKey);
  await run.resolve([path]);
  const found = run.function;
  const wishes = {
    refSuffixes: request.refSuffixes.map(pathSetOf),
    thisPaths: request.thisPaths.map(pathSetOf),
  };
  if (found === undefined) {
    const { unhandled } = core;
    if (unhandled?.call === undefined)
      throw routeError('SLU-GRAPH-CALL-UNKNOWN', 'The function does not exist');
    const { signal } = context;
    const answer = unhandled.call(request.path, request.args, wishes.refSuffixes, wishes.thisPaths, {
      signal,
    });
    return run.during(lastOf(answer));
  }
  const { route, sets } = found;
  const matched = matchedPath(route.steps, sets);
  const result = new CallResult(run, core, path, sets as readonly PlainKey[]);
  const started = performance.now();
  let failure: unknown;
  try {
    await run.during(authorized(route, context, matched, sets, core.journal));
    const { checks } = core;
    const own = sets as readonly PlainKey[];
    const args = checks === undefined ? request.args : await run.during(checks.args(own, request.args));
    const output = route.handlers.call?.(matched, args, context, wishes);
    await run.during(result.take(output));
  } catch (error) {
    // A client who has left is no failure.
    failure = run.isClosed && !(error instanceof RouteError) ? undefined : error;
    throw told(error, run, core, route);
  } finally {
    core.journal.measured(route, 'call', { paths: 1, ms: performance.now() - started, error: failure });
  }
  await run.resolve(result.pathsAfter(request), 'get');
  return result.envelope();
}

async function lastOf(answer: Promise<Envelope> | AsyncIterable<Envelope>): Promise<Envelope> {
  let last: Envelope = { jsonGraph: {}, paths: [] };
  for await (const part of partsOf(answer)) last = part;
  return last;
}

async function authorized<Data>(
  route: Route<Data>,
  context: RequestContext<Data>,
  matched: ReturnType<typeof matchedPath>,
  sets: Sets,
  journal: Journal<Data>,
): Promise<void> {
  const { handlers } = route;
  if (handlers.authorize === undefined) return;
  const given = await handlers.authorize(matched, context, 'call');
  const isAllowed = typeof given === 'function' ? given(sets as readonly PlainKey[]) : given;
  if (isTrue(isAllowed)) return;
  journal.denied(route, 'call');
  throw routeError('SLU-GRAPH-DENIED', 'Not allowed');
}

/** The error that the client gets. */
function told<Data>(error: unknown, run: Run<Data>, core: Core<Data>, route: Route<Data>): unknown {
  if (error instanceof RouteError || run.isClosed) return error;
  core.journal.report(error, route, 'call');
  return routeError('SLU-GRAPH-HANDLER', 'Internal error', { cause: error });
}

/** Values, references and invalidated paths of a function. */
class CallResult<Data> {
  readonly #run: Run<Data>;
  readonly #core: Core<Data>;
  /** Path as the client has it, and as the route has it, without the function's name. */
  readonly #asked: readonly PlainKey[];
  readonly #own: readonly PlainKey[];
  readonly #references: PlainKey[][] = [];
  readonly #values: Sets[] = [];
  readonly #invalidated: PathSet[] = [];
  #paths: Sets[] = [];

  constructor(run: Run<Data>, core: Core<Data>, asked: readonly PlainKey[], own: readonly PlainKey[]) {
    this.#run = run;
    this.#core = core;
    this.#asked = asked.slice(0, -1);
    this.#own = own.slice(0, -1);
  }

  async take(output: RouteOutput): Promise<void> {
    const result = await output;
    if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result) {
      for await (const parts of result) this.#parts(parts);
    } else this.#parts(result);
  }

  #parts(parts: RoutePart | readonly RoutePart[]): void {
    for (const part of [parts].flat() as readonly RoutePart[]) {
      if (part === undefined || part === null) continue;
      if ('jsonGraph' in part) this.#graph(part.jsonGraph, part.paths, part.invalidated);
      else if ('invalidated' in part) this.#invalidated.push(this.#checked(part.path));
      else this.#value(this.#checked(part.path), part.value);
    }
  }

  #graph(message: object, paths: readonly PathSet[] | undefined, invalidated: readonly PathSet[] = []): void {
    if (paths === undefined) throw new Error('A graph that a function returns must have `paths`');
    const sets = plainSets(paths, this.#core.limits);
    this.#run.outputs.graph(message, sets, {
      refuse: (error) => {
        throw error;
      },
    });
    for (const path of invalidated) this.#invalidated.push(this.#checked(path));
    this.#values.push(...sets);
  }

  #checked(path: PathSet | string): PathSet {
    const sets = toPathSet(path);
    if (sets.length === 0 || countPaths([sets]) > this.#core.limits.pathsMax)
      throw new Error('A path of a function must have at least one step, and not too many keys');
    return sets;
  }

  #value(path: PathSet, value: unknown): void {
    const leaf = leafOf(value, this.#core.limits.depthMax);
    if (leaf === undefined) throw new Error(`A function returned no JSON Graph for ${JSON.stringify(path)}`);
    for (const single of singles(path.map(plainKeys))) {
      writeAt(this.#run.graph, single, leaf, single);
      if (isRef(leaf)) this.#references.push(single);
      else this.#values.push(single);
    }
  }

  /** Paths that the client gets: its wishes, and the values of the function. */
  pathsAfter({ refSuffixes, thisPaths }: CallRequest): Sets[] {
    const paths: Sets[] = [...this.#values, ...thisPaths.map((rest) => [...this.#asked, ...rest])];
    for (const reference of this.#references) {
      if (refSuffixes.length === 0) paths.push(reference);
      // The client knows the object by the path that it called.
      else for (const suffix of refSuffixes) paths.push([...this.#asPathAsked(reference), ...suffix]);
    }
    // Counted together: each reference has all suffixes.
    this.#paths = plainSets(joined(paths), this.#core.limits);
    return this.#paths;
  }

  #asPathAsked(path: readonly PlainKey[]): readonly PlainKey[] {
    const isBelow = this.#own.every((key, step) => path[step] === key);
    return isBelow ? [...this.#asked, ...path.slice(this.#own.length)] : path;
  }

  envelope(): Envelope {
    const paths = this.#paths.map(pathSetOf);
    const invalidated = this.#invalidated;
    const { jsonGraph } = paths.length === 0 ? { jsonGraph: {} } : this.#run.answer();
    return { jsonGraph, paths, ...(invalidated.length === 0 ? {} : { invalidated }) };
  }
}
