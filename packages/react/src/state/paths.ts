/** Ways from the root to a place in the tree: as keys (for posted forms) and as component types (for error messages). */
import * as react from '../facts/react.js';
import type { ElementLike } from '../facts/react.js';

import { HolePlan } from './hole-plan.js';
import { templateOf, type PathStep } from '../facts/template.js';
import { profile } from '../facts/profile.js';

/** `[parent, name, key or index]`, as react-dom has it: it is hashed as JSON. */
export type KeyPath = readonly [KeyPath, string | null, unknown] | null;

export interface StackNode {
  readonly parent: StackNode | null;
  readonly type: unknown;
}

const CLIENT_REFERENCE = Symbol.for('react.client.reference');

export function keyPathOf(
  base: KeyPath,
  nodes: readonly unknown[],
  indexes: readonly number[],
  depth: number,
): KeyPath {
  let path = base;
  for (let at = 0; at < depth; at += 1) {
    const node = nodes[at];
    const index = indexes[at] as number;
    if (Array.isArray(node)) path = [path, 'Fragment', index];
    else if (node instanceof HolePlan) path = keyPathOfHole(path, node);
    else {
      const { key } = node as ElementLike;
      const place = index === -1 ? 0 : index;
      const unkeyed = key === null || key === undefined || key === react.OPTIMISTIC_KEY;
      path = [path, componentName(typeOf(nodes, at, depth)), unkeyed ? place : key];
    }
  }
  return path;
}

/** Returns the key path from below the template's root, which has its own place, to the hole. */
function keyPathOfHole(base: KeyPath, { steps }: HolePlan): KeyPath {
  let path = base;
  for (let at = 1; at < steps.length; at += 1) {
    const [tag, key] = steps[at] as PathStep;
    const [, , length, index] = steps[at - 1] as PathStep;
    path = [path, tag ?? 'Fragment', key ?? (length > 1 ? index : 0)];
  }
  return path;
}

/** The type of an element on the way; a template's root is known without building the ordinary element. */
function typeOf(nodes: readonly unknown[], at: number, depth: number): unknown {
  // What lies beyond the depth is from an earlier place.
  const below = at + 1 < depth ? nodes[at + 1] : undefined;
  const node = nodes[at] as ElementLike;
  if (templateOf(node) !== undefined && below instanceof HolePlan) return below.steps[0]?.[0];
  return node.type;
}

export function stackOf(base: StackNode | null, nodes: readonly unknown[], depth: number): StackNode | null {
  let stack = base;
  for (let at = 0; at < depth; at += 1) {
    const node = nodes[at];
    if (Array.isArray(node)) continue;
    if (!(node instanceof HolePlan)) stack = { parent: stack, type: typeOf(nodes, at, depth) };
    else for (const [tag] of node.steps.slice(1)) stack = { parent: stack, type: tag ?? react.FRAGMENT };
  }
  return stack;
}

const BUILT_IN_NAMES = new Map<unknown, string>([
  [react.FRAGMENT, 'Fragment'],
  [react.PROFILER, 'Profiler'],
  [react.STRICT_MODE, 'StrictMode'],
  [react.SUSPENSE, 'Suspense'],
  [react.SUSPENSE_LIST, 'SuspenseList'],
  [react.ACTIVITY, 'Activity'],
  [react.VIEW_TRANSITION, 'ViewTransition'],
]);

interface NamedType {
  readonly $$typeof?: symbol;
  readonly displayName?: string;
  readonly name?: string;
  readonly render?: NamedType;
  readonly type?: unknown;
  readonly _context?: NamedType;
  readonly _payload?: unknown;
  readonly _init?: (payload: unknown) => unknown;
}

export function componentName(type: unknown): string | null {
  if (type === null || type === undefined) return null;
  if (typeof type === 'string') return type;
  const named = type as NamedType;
  if (typeof type === 'function') {
    return named.$$typeof === CLIENT_REFERENCE ? null : named.displayName || named.name || null;
  }
  const builtIn = BUILT_IN_NAMES.get(type);
  if (builtIn !== undefined || typeof type !== 'object') return builtIn ?? null;
  switch (named.$$typeof) {
    case react.PORTAL:
      return 'Portal';
    case react.CONTEXT:
      return (named.displayName || 'Context') + profile.providerSuffix;
    case react.CONSUMER:
      return `${named._context?.displayName || 'Context'}.Consumer`;
    case react.FORWARD_REF: {
      if (named.displayName) return named.displayName;
      const inner = named.render?.displayName || named.render?.name || '';
      return inner === '' ? 'ForwardRef' : `ForwardRef(${inner})`;
    }
    case react.MEMO:
      return named.displayName ?? (componentName(named.type) || 'Memo');
    case react.LAZY:
      try {
        return componentName(named._init?.(named._payload));
      } catch {
        return null;
      }
    case undefined:
    default:
      return null;
  }
}
