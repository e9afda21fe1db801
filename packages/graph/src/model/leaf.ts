/** Values at the ends of paths: as a graph writes them, and as the cache holds them. */
import { PathError, toPath } from '../paths/index.js';
import type { Atom, JsonGraph, Path, Primitive, Sentinel } from '../types.js';
import { ATOM, ERROR, type Kind, NEVER, type Node, REF } from './node.js';

/** Fields of a node that holds a value. */
export interface Leaf {
  readonly kind: Kind;
  readonly value: unknown;
  readonly box: Sentinel | undefined;
  readonly expires: number;
  readonly timestamp: number;
}

/** Whether a part of a graph is a value, and no branch. */
export function isWire(value: unknown): value is Sentinel | Primitive {
  return typeof value !== 'object' || value === null || typeof (value as JsonGraph)['$type'] === 'string';
}

/**
 * Fields for a value. An object without `$type` is an atom.
 *
 * @throws PathError for a reference whose value is no path.
 */
export function readLeaf(wire: unknown, now: () => number): Leaf {
  const isPlain = typeof wire !== 'object' || wire === null;
  const given = (
    isPlain ? { value: wire } : isWire(wire) ? wire : { $type: 'atom', value: wire }
  ) as Sentinel;
  const { $type, $timestamp: timestamp = 0 } = given;
  const kind = $type === 'ref' ? REF : $type === 'error' ? ERROR : ATOM;
  const value = kind === REF ? pathIn(given) : given.value;
  const { $expires = NEVER } = given;
  const expires = $expires < 0 ? now() - $expires : $expires;
  return {
    kind,
    value,
    box: isPlain ? undefined : $expires < 0 ? { ...given, $expires: expires } : given,
    expires,
    timestamp,
  };
}

function pathIn(ref: Sentinel): Path {
  if (Array.isArray(ref.value)) return toPath(ref.value);
  throw new PathError('A reference needs a path');
}

/** `$timestamp` of a value, 0 for none. */
export function timestampOf(wire: unknown): number {
  return typeof wire === 'object' && wire !== null ? ((wire as Atom).$timestamp ?? 0) : 0;
}

/** Whether the first of two timestamps is older; values without one are neither older nor newer. */
export function isOlder(time: number, than: number): boolean {
  return time !== 0 && than !== 0 && time < than;
}

/** Whether two values of the same kind are equal. */
export function isEqual(kind: Kind, one: unknown, other: unknown): boolean {
  if (kind !== REF) return Object.is(one, other);
  const [first, second] = [one as Path, other as Path];
  return first.length === second.length && first.every((key, at) => String(key) === String(second[at]));
}

/** Value as a graph writes it. */
export function wireOf(node: Node): Sentinel | Primitive | undefined {
  return node.box ?? (node.value as Primitive | undefined);
}

/** Value with its wrapper. */
export function boxOf(node: Node): Sentinel {
  return node.box ?? { $type: 'atom', value: node.value };
}
