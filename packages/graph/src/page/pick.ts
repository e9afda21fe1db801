/** Part of a graph at path sets, with the references on the way. It must not know models. */
import { keysOf } from '../paths/index.js';
import type { GraphValue, JsonGraph, Key, Path, PathSet } from '../types.js';

const HOPS = 64;

type Node = JsonGraph | GraphValue;
/** Graph that is being put together. */
type Draft = { [key: string]: unknown };

/** The values of the graph at the path sets, and nothing beside them. Values that the graph does not hold are left out. */
export function pick(graph: JsonGraph, pathSets: readonly PathSet[]): JsonGraph {
  const picked: Draft = Object.create(null) as Draft;
  for (const pathSet of pathSets) walk(graph, graph, pathSet, 0, [], picked, HOPS);
  return picked as JsonGraph;
}

function walk(
  graph: JsonGraph,
  node: Node,
  pathSet: PathSet,
  depth: number,
  at: Path,
  picked: Draft,
  hops: number,
): void {
  if (depth === pathSet.length || !isBranch(node)) {
    follow(graph, node, pathSet, depth, at, picked, hops);
    return;
  }
  for (const key of keysOf(pathSet[depth] as Key)) {
    // A null ends a path at a reference or value, which is not followed.
    if (key === null) continue;
    const name = String(key);
    if (Object.hasOwn(node, name)) walk(graph, node[name], pathSet, depth + 1, [...at, name], picked, hops);
  }
}

/** Puts a value into the part. A reference before the end of the path leads on. */
function follow(
  graph: JsonGraph,
  node: Node,
  pathSet: PathSet,
  depth: number,
  at: Path,
  picked: Draft,
  hops: number,
): void {
  if (node === undefined || isBranch(node)) return;
  put(picked, at, node);
  if (!isReference(node) || depth === pathSet.length || hops === 0) return;
  const rest = pathSet.slice(depth);
  if (rest.length === 1 && rest[0] === null) return;
  walk(graph, graph, [...node.value, ...rest], 0, [], picked, hops - 1);
}

function put(picked: Draft, at: Path, value: unknown): void {
  let branch = picked;
  const last = at.length - 1;
  for (const key of at.slice(0, last)) {
    const next = (branch[String(key)] ??= Object.create(null) as Draft) as Draft;
    branch = next;
  }
  branch[String(at[last])] = value;
}

function isBranch(node: Node): node is JsonGraph {
  return typeof node === 'object' && node !== null && !('$type' in node && typeof node.$type === 'string');
}

function isReference(node: Node): node is { readonly $type: 'ref'; readonly value: Path } {
  return typeof node === 'object' && node !== null && '$type' in node && node.$type === 'ref';
}
