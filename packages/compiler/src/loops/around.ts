/** Whether a loop stands between a read of what other code sees and a write of the same, such as a check and what relies on it. */
import type { NodePath, types as t } from '@babel/core';
import {
  type Binding,
  type Owner,
  type Root,
  eachWrite,
  isCalledLater,
  isShared,
  nameOf,
  rootOf,
} from './places.js';

interface Access {
  /** Variable, name of a global, or `this`, with which the place begins. */
  readonly base: Binding | string;
  /** Name of its property; undefined for all of it, and '' where a call is given it. */
  readonly property: string | undefined;
  readonly path: NodePath;
}

interface Accesses {
  readonly reads: readonly Access[];
  readonly writes: readonly Access[];
}

const known = new WeakMap<t.Function, Accesses>();

/** Returns what is visible, as the end of a sentence with "because it …"; undefined where nothing is. */
export function visibleAround({ node: { end } }: NodePath<t.Loop>, owner: Owner): string | undefined {
  if (typeof end !== 'number') return 'was made by an earlier step of the build';
  let accesses = known.get(owner.node);
  if (accesses === undefined) known.set(owner.node, (accesses = accessesOf(owner)));
  const { reads, writes } = accesses;
  const isRead = (write: Access): boolean =>
    reads.some((read) => (read.path.node.start ?? 0) < end && isSame(read, write));
  const later = writes.find((write) => (write.path.node.start ?? end) >= end && isRead(write));
  return later && `stands between a read and a write of ${nameOf(later.path)}, which other code can observe`;
}

const isSame = (read: Access, write: Access): boolean =>
  read.base === write.base &&
  (read.property === undefined || write.property === undefined || read.property === write.property);

function accessesOf(owner: Owner): Accesses {
  const reads: Access[] = [];
  const writes: Access[] = [];
  /** Places whose value before does not matter. */
  const replaced = new Set<t.Node>();
  eachWrite(owner, (place, isChange) => {
    if (isCalledLater(place, owner)) return;
    const { parent } = place;
    const isStatement = isChange && place.parentPath?.parentPath?.parent.type === 'ExpressionStatement';
    if (isStatement || (!isChange && parent.type !== 'UpdateExpression' && !isCompound(place)))
      replaced.add(place.node);
    const root = rootOf(place);
    // Another value of a parameter is seen by nobody.
    if (root === undefined || (root === place && !isChange && isParameter(root, owner))) return;
    const base = baseOf(root, owner);
    if (base === undefined) return;
    const first = root === place ? undefined : memberOf(root);
    const isMethod = first?.parentPath?.isCallExpression() === true && first.key === 'callee';
    writes.push({ base, property: first && !isMethod ? propertyOf(first) : undefined, path: place });
  });
  const read = (root: Root): void => {
    const first = memberOf(root);
    if (replaced.has(root.node) || (first && replaced.has(first.node)) || isCalledLater(root, owner)) return;
    const base = baseOf(root, owner);
    if (base === undefined) return;
    const property = first ? propertyOf(first) : root.listKey === 'arguments' ? '' : undefined;
    reads.push({ base, property, path: root });
  };
  owner.traverse({
    Identifier(path) {
      if (path.isReferencedIdentifier() || isCompound(path)) read(path);
    },
    ThisExpression: read,
    Super: read,
  });
  return { reads, writes };
}

/** Whether the place is the left side of `+=` or the like, which reads it as well. */
const isCompound = ({ parent, key }: NodePath): boolean =>
  parent.type === 'AssignmentExpression' && parent.operator !== '=' && key === 'left';

/** The name's owner, where other code may see it; undefined where the function alone does. */
function baseOf(root: Root, owner: Owner): Binding | string | undefined {
  if (!isShared(root, owner) && !isParameter(root, owner)) return undefined;
  return root.isIdentifier() ? (root.scope.getBinding(root.node.name) ?? root.node.name) : 'this';
}

function isParameter(root: Root, owner: Owner): boolean {
  const binding = root.isIdentifier() ? root.scope.getBinding(root.node.name) : undefined;
  return binding?.kind === 'param' && binding.scope === owner.scope;
}

/** The `a.b` of `a.b.c`, where `a` is given. */
function memberOf({ parentPath, key }: NodePath): NodePath<t.MemberExpression> | undefined {
  const isMember = parentPath?.isMemberExpression() === true || parentPath?.isOptionalMemberExpression();
  return isMember === true && key === 'object' ? (parentPath as NodePath<t.MemberExpression>) : undefined;
}

/** A property's name; undefined where it is computed. */
function propertyOf({ node: { computed, property } }: NodePath<t.MemberExpression>): string | undefined {
  if (computed) return undefined;
  return property.type === 'PrivateName' ? `#${property.id.name}` : (property as t.Identifier).name;
}
