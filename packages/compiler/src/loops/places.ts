/** Places that code reads and writes: the names at which they begin, and whether other code sees them. */
import type { NodePath, types as t } from '@babel/core';

export type Owner = NodePath<t.Function>;
type Call = t.CallExpression | t.OptionalCallExpression;
export type Binding = NonNullable<ReturnType<NodePath['scope']['getBinding']>>;

/** Methods that change the collection that they belong to. */
const CHANGES = new Set(
  'set add delete clear push pop shift unshift splice sort reverse fill copyWithin'.split(' '),
);
/** Methods that call their callback before they return. */
const CALLS_AT_ONCE = new Set(
  'forEach map filter reduce reduceRight some every find findIndex findLast findLastIndex flatMap sort toSorted replace replaceAll'.split(
    ' ',
  ),
);
/** Globals whose properties do not change. */
const BUILT_IN = new Set(
  'Math Number Object Array String Symbol BigInt JSON Date performance Buffer undefined NaN Infinity'.split(
    ' ',
  ),
);

/**
 * Calls `found` for each place that is written: by assignment, by `delete`, by a loop's head, or (`isChange`) for each collection that is
 * changed by a method.
 */
export function eachWrite(within: NodePath, found: (place: NodePath, isChange: boolean) => void): void {
  const write = (target: NodePath): void => {
    for (const leaf of leavesOf(target)) found(leaf, false);
  };
  const head = (loop: NodePath<t.ForXStatement>): void => {
    const left = loop.get('left') as NodePath;
    if (!left.isVariableDeclaration()) write(left);
  };
  const change = (call: NodePath<Call>): void => {
    const changed = changedBy(call);
    if (changed !== undefined) found(changed, true);
  };
  // `traverse` begins below the loop itself.
  if (within.isForXStatement()) head(within);
  within.traverse({
    AssignmentExpression: (path) => write(path.get('left')),
    UpdateExpression: (path) => write(path.get('argument')),
    ForXStatement: head,
    UnaryExpression(path) {
      if (path.node.operator === 'delete') write(path.get('argument'));
    },
    CallExpression: change,
    OptionalCallExpression: change,
  });
}

/** The collection that a call changes by its method's name. */
function changedBy(call: NodePath<Call>): NodePath | undefined {
  const callee = call.get('callee') as NodePath;
  const isMember = callee.isMemberExpression() || callee.isOptionalMemberExpression();
  if (!isMember || callee.node.computed) return undefined;
  const { property } = callee.node;
  return property.type === 'Identifier' && CHANGES.has(property.name)
    ? (callee.get('object') as NodePath)
    : undefined;
}

/** Whether the place is in a function within `owner` that is not called on the spot. */
export function isCalledLater(path: NodePath, owner: Owner): boolean {
  for (
    let inner = path.isFunction() ? path : path.getFunctionParent();
    inner !== null && inner !== owner;
    inner = inner.getFunctionParent()
  ) {
    if (!isCalledAtOnce(inner)) return true;
  }
  return false;
}

function isCalledAtOnce(inner: NodePath<t.Function>): boolean {
  const call = inner.parentPath;
  if (inner.node.async || inner.node.generator || !call?.isCallExpression()) return false;
  const callee = call.get('callee');
  if (callee === (inner as NodePath)) return true;
  if (!callee.isMemberExpression() || callee.node.computed) return false;
  const { property } = callee.node;
  return property.type === 'Identifier' && CALLS_AT_ONCE.has(property.name);
}

/** The places that a target of an assignment writes. */
function leavesOf(target: NodePath): NodePath[] {
  if (target.isObjectPattern()) {
    return (target.get('properties') as NodePath[]).flatMap((property) =>
      leavesOf(property.get(property.isRestElement() ? 'argument' : 'value') as NodePath),
    );
  }
  if (target.isArrayPattern()) {
    const elements = target.get('elements') as NodePath<t.Node | null>[];
    return elements.flatMap((element) => (element.node ? leavesOf(element as NodePath) : []));
  }
  if (target.isRestElement()) return leavesOf(target.get('argument'));
  if (target.isAssignmentPattern()) return leavesOf(target.get('left'));
  return [target];
}

export type Root = NodePath<t.Identifier> | NodePath<t.ThisExpression> | NodePath<t.Super>;

/** The name at which `a.b().c` begins; undefined where it begins with no name. */
export function rootOf(path: NodePath): Root | undefined {
  if (path.isIdentifier() || path.isThisExpression() || path.isSuper()) return path;
  if (path.isMemberExpression() || path.isOptionalMemberExpression()) {
    return rootOf(path.get('object') as NodePath);
  }
  if (path.isCallExpression() || path.isOptionalCallExpression()) {
    return rootOf(path.get('callee') as NodePath);
  }
  if (path.isTSNonNullExpression() || path.isTSAsExpression() || path.isParenthesizedExpression()) {
    return rootOf((path as NodePath<t.TSNonNullExpression>).get('expression'));
  }
  return undefined;
}

export function isShared(root: Root, owner: Owner): boolean {
  if (!root.isIdentifier()) return true;
  const binding = root.scope.getBinding(root.node.name);
  return binding === undefined ? !BUILT_IN.has(root.node.name) : isOutside(binding, owner);
}

export const isOutside = ({ scope }: Binding, owner: Owner): boolean => !isWithin(scope.path, owner);

export const isWithin = (path: NodePath, outer: NodePath): boolean =>
  path === outer || path.isDescendant(outer);

/** Source text of a name or a chain of names, cut after 40 characters. */
export function nameOf(path: NodePath): string {
  const text = path.getSource().replaceAll(/\s+/g, ' ');
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
