/**
 * Whether other code that runs between two turns of a loop could see a difference, or make one. Looks at its head,
 * at what its body reads and writes by name, and at what the function writes after it. What called functions do is not known here.
 */
import type { NodePath, types as t } from '@babel/core';
import { visibleAround } from './around.js';
import {
  type Binding,
  type Owner,
  eachWrite,
  isCalledLater,
  isOutside,
  isShared,
  isWithin,
  nameOf,
  rootOf,
} from './places.js';

/** Methods that return a live view of their collection. */
const VIEWS = new Set(['values', 'keys', 'entries']);

/** Returns what is visible, as the end of a sentence with "because it …"; undefined where nothing is. */
export function visibleIn(loop: NodePath<t.Loop>, owner: Owner): string | undefined {
  return (
    visibleInHead(loop, owner) ??
    visibleWrite(loop, owner) ??
    visibleName(loop, owner) ??
    visibleAround(loop, owner)
  );
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
  eachWrite(loop, (place, isChange) => {
    const root = rootOf(place);
    if (root === undefined ? isChange : !isShared(root, owner)) return;
    visible ??= `${isChange ? 'changes' : 'writes'} ${nameOf(place)}, which code outside the function can read`;
  });
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
      visible ??= `reads ${name}, which code outside the function changes`;
    } else if (!isWithin(binding.scope.path, loop) && isSharedWithClosure(binding, loop, owner)) {
      visible ??= `shares ${name} with a function that may run between two iterations`;
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
