/**
 * Whether other code that runs between two turns of a loop could see a difference, or make one. Looks at the loop itself: its head,
 * and what its body reads and writes by name. What called functions do is not known here.
 */
import type { NodePath, types as t } from '@babel/core';

type Owner = NodePath<t.Function>;
type Binding = NonNullable<ReturnType<NodePath['scope']['getBinding']>>;

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
/** Methods that return a live view of their collection. */
const VIEWS = new Set(['values', 'keys', 'entries']);

/** Returns what is visible, as the end of a sentence with "because it …"; undefined where nothing is. */
export function visibleIn(loop: NodePath<t.Loop>, owner: Owner): string | undefined {
  return visibleInHead(loop, owner) ?? visibleWrite(loop, owner) ?? visibleName(loop, owner);
}

function visibleInHead(loop: NodePath<t.Loop>, owner: Owner): string | undefined {
  if (loop.isForOfStatement()) {
    const items = collectionOf(loop.get('right'));
    const isNamed = items.isIdentifier() || items.isMemberExpression() || items.isThisExpression();
    const root = isNamed ? rootOf(items) : undefined;
    return root !== undefined && isShared(root, owner)
      ? `iterates over ${nameOf(items)}, which other code can change`
      : undefined;
  }
  if (!loop.isForStatement() && !loop.isWhile()) return undefined;
  const test = loop.get('test') as NodePath<t.Node | null>;
  let visible: string | undefined;
  const look = (member: NodePath): void => {
    const root = rootOf(member);
    if (root !== undefined && isShared(root, owner))
      visible ??= `is bounded by ${nameOf(member)}, which other code can change`;
  };
  if (!test.node) return undefined;
  if (test.isMemberExpression()) look(test);
  test.traverse({
    Function: (path) => path.skip(),
    MemberExpression: look,
  });
  return visible;
}

function collectionOf(right: NodePath): NodePath {
  if (!right.isCallExpression()) return right;
  const callee = right.get('callee');
  if (!callee.isMemberExpression() || callee.node.computed) return right;
  const { property } = callee.node;
  return property.type === 'Identifier' && VIEWS.has(property.name) && right.node.arguments.length === 0
    ? callee.get('object')
    : right;
}

function visibleWrite(loop: NodePath<t.Loop>, owner: Owner): string | undefined {
  let visible: string | undefined;
  const write = (target: NodePath): void => {
    for (const leaf of leavesOf(target)) {
      const root = rootOf(leaf);
      if (root === undefined || isShared(root, owner))
        visible ??= `writes ${nameOf(leaf)}, which code outside of the function sees`;
    }
  };
  loop.traverse({
    AssignmentExpression: (path) => write(path.get('left')),
    UpdateExpression: (path) => write(path.get('argument')),
    ForXStatement(path) {
      const left = path.get('left') as NodePath;
      if (!left.isVariableDeclaration()) write(left);
    },
    UnaryExpression(path) {
      if (path.node.operator === 'delete') write(path.get('argument'));
    },
    CallExpression(path) {
      const callee = path.get('callee');
      if (!callee.isMemberExpression() || callee.node.computed) return;
      const { property } = callee.node;
      if (property.type !== 'Identifier' || !CHANGES.has(property.name)) return;
      const object = callee.get('object');
      const root = rootOf(object);
      if (root !== undefined && isShared(root, owner))
        visible ??= `changes ${nameOf(object)}, which code outside of the function sees`;
    },
  });
  // The loop's own left side is no child that `traverse` visits as a loop.
  if (loop.isForOfStatement()) {
    const left = loop.get('left') as NodePath;
    if (!left.isVariableDeclaration()) write(left);
  }
  return visible;
}

function visibleName(loop: NodePath<t.Loop>, owner: Owner): string | undefined {
  const seen = new Set<Binding>();
  let visible: string | undefined;
  const look = (path: NodePath, name: string): void => {
    const binding = path.scope.getBinding(name);
    if (binding === undefined || binding.constant || seen.has(binding)) return;
    seen.add(binding);
    if (isOutside(binding, owner)) {
      visible ??= `reads ${name}, which code outside of the function changes`;
    } else if (!isWithin(binding.scope.path, loop) && isSharedWithClosure(binding, loop, owner)) {
      visible ??= `shares ${name} with a function that may run between two turns`;
    }
  };
  loop.traverse({
    Identifier(path) {
      const { name } = path.node;
      if (path.isReferencedIdentifier() || (path as NodePath).isBindingIdentifier()) look(path, name);
    },
  });
  return visible;
}

/** Whether a function that may be called meanwhile reads what the loop writes, or writes what it reads. */
function isSharedWithClosure(binding: Binding, loop: NodePath<t.Loop>, owner: Owner): boolean {
  const isElsewhere = (path: NodePath): boolean => isCalledLater(path, owner);
  const writes = binding.constantViolations;
  if (writes.some(isElsewhere)) return true;
  const isWritten = writes.some((path) => isWithin(path, loop));
  return isWritten && binding.referencePaths.some(isElsewhere);
}

/** Whether the place is in a function within `owner` that is not called on the spot. */
function isCalledLater(path: NodePath, owner: Owner): boolean {
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

type Root = NodePath<t.Identifier> | NodePath<t.ThisExpression> | NodePath<t.Super>;

/** The name at which `a.b().c` begins; undefined where it begins with no name. */
function rootOf(path: NodePath): Root | undefined {
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

function isShared(root: Root, owner: Owner): boolean {
  if (!root.isIdentifier()) return true;
  const binding = root.scope.getBinding(root.node.name);
  return binding === undefined ? !BUILT_IN.has(root.node.name) : isOutside(binding, owner);
}

const isOutside = ({ scope }: Binding, owner: Owner): boolean => !isWithin(scope.path, owner);

const isWithin = (path: NodePath, outer: NodePath): boolean => path === outer || path.isDescendant(outer);

/** Source text of a name or a chain of names, cut after 40 characters. */
function nameOf(path: NodePath): string {
  const text = path.getSource().replaceAll(/\s+/g, ' ');
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
