/** Models whose paths and values have the types of a shape. */
import type { CallOptions, JsonEnvelope, Model, SetOptions, Snapshot } from '../model/model.js';
import type { PathInput, PathSet } from '../types.js';
import type { ArgumentsAt, CheckedOne, CheckedPaths, JsonOf, ValueAt } from './shape.js';

export type { RefTo, SchemaWithTypes, ShapeOf } from './shape.js';

/** Model that knows the shape of its graph. A path that the shape does not have is a type error. */
export interface TypedModel<Shape> {
  /** Values at path sets; see `Model.get`. */
  get<const Paths extends readonly PathSet[]>(
    ...paths: Paths & CheckedPaths<Shape, Paths>
  ): Promise<JsonEnvelope<JsonOf<Shape, Paths>> | undefined>;
  /** State of the cache; see `Model.read`. */
  read<const Paths extends readonly PathSet[]>(
    ...paths: Paths & CheckedPaths<Shape, Paths>
  ): Snapshot<JsonOf<Shape, Paths>>;
  /** Value at one path; see `Model.getValue`. */
  getValue<const Path extends PathSet>(
    path: Path & CheckedOne<Shape, Path>,
    options?: CallOptions,
  ): Promise<ValueAt<Shape, Path> | undefined>;
  /** Writes one value; see `Model.setValue`. */
  setValue<const Path extends PathSet>(
    path: Path & CheckedOne<Shape, Path>,
    value: ValueAt<Shape, Path>,
    options?: SetOptions,
  ): Promise<ValueAt<Shape, Path> | undefined>;
  /** Calls a function of the graph; see `Model.call`. */
  call<const Path extends PathSet>(
    path: Path & CheckedOne<Shape, Path>,
    args: ArgumentsAt<Shape, Path>,
    refSuffixes?: readonly PathInput[],
    thisPaths?: readonly PathInput[],
    options?: CallOptions,
  ): Promise<JsonEnvelope | undefined>;
  /** Drops values; see `Model.invalidate`. */
  invalidate(...paths: PathInput[]): void;
  /** Calls a listener after changes; see `Model.subscribe`. */
  subscribe(paths: readonly PathInput[], listener: () => void): () => void;
}

/** Gives a model the types of a shape: `typed<Shop>(model)`, or `typed<ShapeOf<typeof schema>>(model)`. It is the same model. */
export function typed<Shape>(model: Model): TypedModel<Shape> {
  return model as unknown as TypedModel<Shape>;
}

/** Gives the same model without the types, for `GraphProvider`, and for paths that are known when the program runs. */
export function untyped(model: TypedModel<never>): Model {
  return model as unknown as Model;
}
