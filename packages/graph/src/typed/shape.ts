/** Shape of a graph, and what its paths give. Types alone: nothing of it is left when the program runs. */
import type { Atom, GraphError, Key, Range } from '../types.js';

declare const target: unique symbol;

/** Reference in a shape: paths continue at its target. */
export interface RefTo<Target> {
  readonly [target]: Target;
}

/** Part of a Standard Schema (Zod, Valibot, ArkType, …) that says what it gives. */
export interface SchemaWithTypes<Output> {
  readonly '~standard': { readonly types?: { readonly output: Output } | undefined };
}

/** Shape that a schema describes. */
export type ShapeOf<Schema extends SchemaWithTypes<unknown>> = NonNullable<
  Schema['~standard']['types']
>['output'];

type Plain = string | number | boolean | bigint | null | undefined;
type Fn = (...args: never[]) => unknown;
/** Values at which paths end: arrays and wrapped objects are read as a whole. */
type Leaf = Plain | readonly unknown[] | Atom | GraphError | Fn;

/** Branch that a place of the shape is, or refers to; never for a value. */
type Branch<Shape> = Shape extends RefTo<infer Target> ? Branch<Target> : Shape extends Leaf ? never : Shape;

type KeyIn<Shape> = [Branch<Shape>] extends [never] ? never : keyof Branch<Shape> & (string | number);

/** Key sets that fit a place: a name, a list of names, and ranges where all integers are keys. */
type KeySetOf<Name> = Name | RangeFor<Name> | readonly (Name | RangeFor<Name>)[];
type RangeFor<Name> = number extends Name ? Range : never;

/** Keys that a key set names. */
type NamesIn<Set> = Set extends readonly (infer Part)[] ? NameOf<Part> : NameOf<Set>;
/** A range names integers. All its properties are optional, so that keys would pass for one. */
type NameOf<Part> = Part extends Key ? Part : number;

type At<Shape, Name> = Name extends keyof Branch<Shape> ? Branch<Shape>[Name] : never;

/**
 * The path set itself where the shape has it. Else it has the fitting key sets at its first wrong step, which is what the editor then shows.
 */
export type CheckedPath<Shape, Path> = Path extends readonly [infer Set, ...infer Rest]
  ? [NamesIn<Set>] extends [KeyIn<Shape>]
    ? readonly [Set, ...CheckedPath<At<Shape, NamesIn<Set>>, Rest>]
    : [Set, Rest, KeyIn<Shape>] extends [null, readonly [], never]
      ? readonly [null]
      : readonly [KeySetOf<KeyIn<Shape>>, ...Rest]
  : [KeyIn<Shape>] extends [never]
    ? readonly []
    : readonly [KeySetOf<KeyIn<Shape>>, ...unknown[]];

/** Value at the end of a path. */
type ValueIn<Shape> = Shape extends Atom<infer Value> ? Value : Shape extends GraphError ? never : Shape;

/** JSON that a path set gives. Anything may be missing. */
export type JsonAt<Shape, Path> = Path extends readonly [infer Set, ...infer Rest]
  ? Set extends null
    ? ValueIn<Shape>
    : { readonly [Name in NamesIn<Set> & (string | number)]?: JsonAt<At<Shape, Name>, Rest> }
  : ValueIn<Shape>;

/** JSON of several path sets together. */
export type JsonOf<Shape, Paths> = Paths extends readonly [infer Path, ...infer Rest]
  ? JsonAt<Shape, Path> & JsonOf<Shape, Rest>
  : unknown;

/** Path sets, each checked. */
export type CheckedPaths<Shape, Paths> = { readonly [At in keyof Paths]: CheckedPath<Shape, Paths[At]> };

/** Path to one value: one key a step. */
export type CheckedOne<Shape, Path> = Path extends readonly (string | number | boolean | null)[]
  ? CheckedPath<Shape, Path>
  : never;

/** Value at the path to one. */
export type ValueAt<Shape, Path> = Path extends readonly [infer Name, ...infer Rest]
  ? Name extends null
    ? ValueIn<Shape>
    : ValueAt<At<Shape, Name>, Rest>
  : ValueIn<Shape>;

/** Arguments of the function at a path. */
export type ArgumentsAt<Shape, Path> =
  ValueAt<Shape, Path> extends (...args: infer Arguments) => unknown ? Readonly<Arguments> : never;
