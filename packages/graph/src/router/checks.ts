/** Checks of clients' values and arguments by the schema of a graph. */
import { parseRoute, type RoutePath } from '../paths/index.js';
import type { PathSet } from '../types.js';
import { errorLeaf, routeError, type RouteErrorLeaf } from './errors.js';
import { isRef, type Leaf } from './graph.js';
import {
  Callable,
  RefTo,
  type GraphSchema,
  type SchemaNode,
  type StandardIssue,
  type StandardSchema,
} from './schema.js';
import { plainKey, type PlainKey } from './sets.js';

/** Bounds the characters of a message that names what is wrong with a value. */
const MESSAGE_CHARACTERS_MAX = 500;
/** Bounds the references of a schema that are followed for one path. */
const TARGETS_MAX = 50;

/** Value as the schema has made it, or the error that its path gets. */
export type Checked = { readonly leaf: Leaf } | { readonly refusal: RouteErrorLeaf };

export class SchemaChecks {
  readonly #schema: GraphSchema;

  constructor(schema: GraphSchema) {
    this.#schema = schema;
  }

  /** Throws where the paths of a route are not in the schema. */
  route(text: string): void {
    for (const keys of keysOfRoute(parseRoute(text))) {
      if (this.#at(keys) === undefined) throw new Error(`Route ${text}: the schema has no ${keys.join('.')}`);
    }
  }

  /** Checks the value that a client sets at a path. Rejects where a library throws. */
  async value(path: readonly PlainKey[], leaf: Leaf): Promise<Checked> {
    const node = path.some(isKind) ? undefined : this.#at(path);
    if (node instanceof RefTo) return isRef(leaf) ? { leaf } : refused('A reference was expected');
    if (!isStandard(node)) return refused('The schema has no value here');
    if (isRef(leaf)) return refused('A value was expected');
    const isAtom = typeof leaf === 'object' && leaf !== null;
    if (isAtom && leaf.$type !== 'atom') return refused('A value was expected');
    const result = await node['~standard'].validate(isAtom ? leaf.value : leaf);
    if (result.issues !== undefined) return refused(messageOf(result.issues));
    if (!isAtom && result.value === leaf) return { leaf };
    return { leaf: { ...(isAtom ? leaf : {}), $type: 'atom', value: result.value } };
  }

  /** Checks the arguments of a function. Rejects with a `RouteError` that says what is wrong. */
  async args(path: readonly PlainKey[], args: readonly unknown[]): Promise<readonly unknown[]> {
    const node = path.some(isKind) ? undefined : this.#at(path);
    if (!(node instanceof Callable))
      throw routeError('SLU-GRAPH-CALL-UNKNOWN', 'The function does not exist');
    const result = await node.args['~standard'].validate(args);
    if (result.issues !== undefined) throw routeError('SLU-GRAPH-REFUSED', messageOf(result.issues));
    return result.value as readonly unknown[];
  }

  #at(path: readonly PlainKey[], targets = 0): SchemaNode | undefined {
    let node: SchemaNode | undefined = this.#schema;
    let followed = targets;
    for (const key of path) {
      while (node instanceof RefTo) {
        const [target = []] = keysOfRoute(parseRoute(node.target));
        node = ++followed > TARGETS_MAX ? undefined : this.#at(target, followed);
      }
      if (node === undefined || node instanceof Callable || isStandard(node)) return undefined;
      node = childOf(node, key);
    }
    return node;
  }
}

const INTEGERS = '{integers}';
const KEYS = '{keys}';

function childOf(node: GraphSchema, key: PlainKey): SchemaNode | undefined {
  const kinds = typeof key === 'number' ? [String(key), INTEGERS, KEYS] : [key, KEYS];
  const name = kinds.find((one) => Object.hasOwn(node, one));
  return name === undefined ? undefined : node[name];
}

/** Whether a client's key has the name that the schema gives to a kind of keys. */
function isKind(key: PlainKey): boolean {
  return key === INTEGERS || key === KEYS;
}

/** Keys of each path that the text of a route has; a kind of keys stands for itself. */
function keysOfRoute(steps: RoutePath): PlainKey[][] {
  let paths: PlainKey[][] = [[]];
  for (const step of steps) {
    const keys = typeof step === 'object' && step !== null ? keysOfStep(step) : [plainKey(step)];
    paths = paths.flatMap((path) => keys.map((key) => [...path, key]));
  }
  return paths;
}

function keysOfStep(step: Exclude<RoutePath[number], string | number | boolean | null>): PlainKey[] {
  if ('type' in step) return [step.type === 'keys' ? KEYS : INTEGERS];
  const parts = (Array.isArray(step) ? step : [step]) as Extract<PathSet[number], readonly unknown[]>;
  // All integers of a range have the same place.
  return parts.map((part) => (typeof part === 'object' && part !== null ? (part.from ?? 0) : plainKey(part)));
}

function isStandard(node: SchemaNode | undefined): node is StandardSchema {
  return node !== undefined && '~standard' in node;
}

function refused(message: string): Checked {
  return { refusal: errorLeaf('SLU-GRAPH-REFUSED', message) };
}

function messageOf(issues: readonly StandardIssue[]): string {
  const messages = issues.map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return messages.join('; ').slice(0, MESSAGE_CHARACTERS_MAX);
}
