/**
 * Schema of a graph: objects by key, with values of Zod, Valibot or any other library of Standard Schema. TypeScript knows by it every path and
 * its value, and a router checks what clients set and call.
 */
import type { RouteContext } from './context.js';
import type { Match, Steps } from './match.js';
import type { RouteDefinition, RouteHandlers } from './route.js';
import { route } from './route.js';

/** Part of Standard Schema 1 that is used here. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Reference to a place of the same graph. */
export class RefTo<Target extends string = string> {
  /** Text of a path, such as `titlesById[{integers}]`. */
  readonly target: Target;

  constructor(target: Target) {
    this.target = target;
  }
}

/** Function of a graph. */
export class Callable<Args = unknown> {
  /** Schema of the list of arguments. */
  readonly args: StandardSchema<Args>;
  /** Tells functions from objects that have a key `args`. */
  declare protected readonly kind: 'function';

  constructor(args: StandardSchema<Args>) {
    this.args = args;
  }
}

/** Keys of an object; `{integers}` and `{keys}` stand for all integers and keys that are not named. */
export interface GraphSchema {
  readonly [key: string]: SchemaNode;
}
export type SchemaNode = GraphSchema | StandardSchema | RefTo | Callable;

/** Makes a reference to a place of the graph, given as the text of a path. */
export function refTo<const Target extends string>(target: Target): RefTo<Target> {
  return new RefTo(target);
}

/** Makes a function, whose list of arguments has a schema. */
export function callable<Args extends readonly unknown[]>(args: StandardSchema<Args>): Callable<Args> {
  return new Callable(args);
}

/** Part of a schema that a step leads to; never where there is none. */
type Child<Root, Node, Key> =
  Target<Root, Node> extends infer Own
    ? Own extends StandardSchema | Callable
      ? never
      : Key extends keyof Own
        ? Own[Key]
        : Key extends number | `${number}`
          ? ByKind<Own, '{integers}' | '{keys}'>
          : ByKind<Own, '{keys}'>
    : never;

type ByKind<Own, Kind extends string> = Own[Extract<keyof Own, Kind>];

/** Place of a reference; any other part itself. */
type Target<Root, Node> = Node extends RefTo<infer Text> ? At<Root, Root, Steps<Text>> : Node;

/** Part of a schema at a path; the union of parts where steps have several keys. */
type At<Root, Node, Path> = Path extends readonly [infer Step, ...infer Rest]
  ? At<Root, Child<Root, Node, KeyOf<Step>>, Rest>
  : Node;

type KeyOf<Step> = Step extends readonly (infer Key)[]
  ? Key extends { readonly from: number }
    ? number
    : Key
  : Step;

/** JSON of a path: objects by key, down to the value. Any of them may be absent. */
type JsonOf<Root, Node, Path> = Path extends readonly [infer Step, ...infer Rest]
  ? { readonly [Key in KeyOf<Step> & PropertyKey]?: JsonOf<Root, Child<Root, Node, Key>, Rest> }
  : Output<Node>;

type Output<Node> =
  Node extends StandardSchema<infer Value>
    ? Value
    : Node extends RefTo
      ? readonly (string | number)[]
      : never;

/** Keys of a path that the schema does not have; never where it has all. */
type Missing<Root, Node, Path> = Path extends readonly [infer Step, ...infer Rest]
  ? KeyOf<Step> extends infer Key
    ? Key extends unknown
      ? [Child<Root, Node, Key>] extends [never]
        ? Key
        : Missing<Root, Child<Root, Node, Key>, Rest>
      : never
    : never
  : never;

/** Name of a key in an error of the editor. */
type NameOf<Key> = string extends Key
  ? '{keys}'
  : number extends Key
    ? '{integers}'
    : Key extends string | number
      ? `${Key}`
      : never;

/** Type that no text has, in place of a path: editors show it in their error. */
interface Problem<Message extends string> {
  readonly problem: Message;
}

/** Whether a path ends at a value, a reference or a function, and not at an object of several. */
type IsEnd<Node> = [Node] extends [StandardSchema | RefTo | Callable] ? true : false;

/** The text itself where it is a path of the schema, and a type that no text has otherwise. */
export type PathIn<Schema, Text extends string> =
  Missing<Schema, Schema, Steps<Text>> extends infer Lost
    ? [Lost] extends [never]
      ? IsEnd<At<Schema, Schema, Steps<Text>>> extends true
        ? Text
        : Problem<`${Text} is not a value of the graph`>
      : Problem<`the graph has no ${NameOf<Lost>} there`>
    : never;

/** The same for paths of values: functions have none. */
export type ValueIn<Schema, Text extends string> = [
  Extract<At<Schema, Schema, Steps<Text>>, Callable>,
] extends [never]
  ? PathIn<Schema, Text>
  : Problem<`${Text} is a function of the graph`>;

/** The same for functions. */
export type FunctionIn<Schema, Text extends string> =
  PathIn<Schema, Text> extends Text
    ? At<Schema, Schema, Steps<Text>> extends Callable
      ? Text
      : Problem<`${Text} is not a function of the graph`>
    : PathIn<Schema, Text>;

/** JSON that a path gives. */
export type JsonAt<Schema, Text extends string> = JsonOf<Schema, Schema, Steps<Text>>;

/** Value of a path of single keys. */
export type ValueAt<Schema, Text extends string> = Output<At<Schema, Schema, Steps<Text>>>;

/** Arguments of a function. */
export type ArgsAt<Schema, Text extends string> =
  At<Schema, Schema, Steps<Text>> extends Callable<infer Args> ? Args : never;

/** JSON that several paths give together. */
export type JsonOfAll<Schema, Texts extends readonly string[]> = Texts extends readonly [
  infer First extends string,
  ...infer Rest extends readonly string[],
]
  ? JsonAt<Schema, First> & JsonOfAll<Schema, Rest>
  : unknown;

/** Value to set, as the rest of an argument list: TypeScript infers a path from the path alone then. */
type Settable<Schema, Text> = [Text] extends [infer Own extends string]
  ? [value: ValueAt<Schema, Own>]
  : never;

/** Reads and writes of a model that know the paths of a schema. */
export interface TypedModel<Schema> {
  get<const Texts extends readonly string[]>(
    ...paths: { readonly [Place in keyof Texts]: ValueIn<Schema, Texts[Place]> & Texts[Place] }
  ): Promise<{ readonly json: JsonOfAll<Schema, Texts> } | undefined>;
  getValue<const Text extends string>(
    path: ValueIn<Schema, Text> & Text,
  ): Promise<ValueAt<Schema, Text> | undefined>;
  setValue<const Text extends string>(
    path: ValueIn<Schema, Text> & Text,
    ...value: Settable<Schema, Text>
  ): Promise<ValueAt<Schema, Text> | undefined>;
  call<const Text extends string>(
    path: FunctionIn<Schema, Text> & Text,
    args: NoInfer<ArgsAt<Schema, Text>>,
  ): Promise<unknown>;
}

/** Handlers whose arguments have the schema of the function. */
export type TypedHandlers<Schema, Text extends string, Data> = Omit<
  RouteHandlers<Match<Text>, Data>,
  'call'
> & {
  call?(
    match: Match<Text>,
    args: ArgsAt<Schema, Text>,
    context: RouteContext<Data>,
    wishes: Parameters<NonNullable<RouteHandlers<Match<Text>, Data>['call']>>[3],
  ): ReturnType<NonNullable<RouteHandlers<Match<Text>, Data>['call']>>;
};

/** Schema with the functions that know its paths. */
export interface TypedGraph<Schema, Data> {
  readonly schema: Schema;
  /** Makes a route; its text has to be a path of the schema. */
  route<const Text extends string>(
    text: PathIn<Schema, Text> & Text,
    handlers: TypedHandlers<Schema, Text, Data>,
  ): RouteDefinition<Data>;
  /** The same model, with the types of the schema. */
  model(model: object): TypedModel<Schema>;
}

/**
 * Makes the functions that know the paths of a schema:
 *
 * ```ts
 * const graph = typedGraph<{ user: string }>()({
 *   lists: { '{keys}': { '{integers}': refTo('titlesById[{integers}]'), length: z.number() } },
 *   titlesById: { '{integers}': { name: z.string(), rating: z.number().max(5) } },
 * });
 * const router = new Router([graph.route('titlesById[{integers:ids}].name', { get: … })], { schema: graph.schema });
 * await graph.model(model).getValue('lists.mine[0].name'); // string | undefined
 * ```
 */
export function typedGraph<Data = unknown>(): <const Schema extends GraphSchema>(
  schema: Schema,
) => TypedGraph<Schema, Data> {
  return (schema) => ({
    schema,
    route: (text, handlers) => route(String(text), handlers as unknown as RouteHandlers<never, Data>),
    model: (model) => model as TypedModel<typeof schema>,
  });
}
