/** Place of an element: whether it goes straight to the reconciler, or to code that may look into it, copy it, or change it. */
import type { NodePath, types as t } from '@babel/core';
import { type Component, isCacheSlot } from './components.js';

export interface Place {
  /** Nothing but the reconciler sees the element. */
  readonly isDirect: boolean;
  /** Component that always returns this very element, and no other one. */
  readonly onlyRootOf: Component | undefined;
  /** Receiver of the element, in words; undefined if it is direct. */
  readonly seenBy: string | undefined;
}

export interface Places {
  readonly components: ReadonlyMap<t.Node, Component>;
  /** Whether the reconciler takes this element's children as they are: a widget, a fragment, a component of React's own. */
  isTransparent(element: t.JSXElement | t.JSXFragment): boolean;
  nameOf(element: t.JSXElement | t.JSXFragment): string;
}

export function placeOf(path: NodePath, places: Places): Place {
  const seenBy = seen(path, places);
  return {
    isDirect: seenBy === undefined,
    onlyRootOf: seenBy === undefined ? rootOf(path, places) : undefined,
    seenBy,
  };
}

/** Undefined if nobody sees the element. */
function seen(path: NodePath, places: Places): string | undefined {
  const { parentPath, parent, node } = path;
  if (parentPath === null) return 'the module';
  if (parent.type === 'JSXElement' || parent.type === 'JSXFragment')
    return places.isTransparent(parent) ? seen(parentPath, places) : `<${places.nameOf(parent)}>`;
  if (parent.type === 'JSXExpressionContainer' && parentPath.parent.type === 'JSXAttribute')
    return `the attribute ${String(attributeName(parentPath.parent))}`;
  if (parent.type === 'ConditionalExpression' && node === parent.test) return 'a condition';
  if (PASSES_ON.has(parent.type)) return seen(parentPath, places);
  if (parent.type === 'ReturnStatement' || parent.type === 'ArrowFunctionExpression') {
    const inside = path.getFunctionParent();
    if (inside?.parentPath && isMapped(inside)) return seen(inside.parentPath, places);
    const component = inside === null ? undefined : places.components.get(inside.node);
    if (component === undefined) return 'the caller of a function';
    return component.isLoose ? `code that may call ${component.name}` : undefined;
  }
  if (parent.type === 'VariableDeclarator' || parent.type === 'AssignmentExpression')
    return seenAsVariable(path, parent, places);
  return parent.type === 'CallExpression' ? 'a function' : 'other code';
}

/** Whether a function stands in `list.map(…)`, which puts what it returns into an array. `Children.map` makes copies. */
function isMapped({ node, parent }: NodePath): boolean {
  if (parent.type !== 'CallExpression' || parent.arguments.length !== 1 || parent.arguments[0] !== node)
    return false;
  if (node.type !== 'ArrowFunctionExpression' && node.type !== 'FunctionExpression') return false;
  if (node.async || node.generator) return false;
  const { callee } = parent;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
    return false;
  const { object } = callee;
  const name =
    object.type === 'Identifier'
      ? object.name
      : object.type === 'MemberExpression' && object.property.type === 'Identifier'
        ? object.property.name
        : '';
  return callee.property.name === 'map' && name !== 'Children';
}

/** Nodes whose value an element can be. */
const PASSES_ON = new Set<t.Node['type']>([
  'JSXExpressionContainer',
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'LogicalExpression',
  'ConditionalExpression',
]);

/** Variables in which React Compiler keeps elements between renders. */
function seenAsVariable(
  path: NodePath,
  parent: t.VariableDeclarator | t.AssignmentExpression,
  places: Places,
): string | undefined {
  const target = parent.type === 'VariableDeclarator' ? parent.id : parent.left;
  if (target.type !== 'Identifier') return 'a variable';
  const name = target.name;
  const binding = path.scope.getBinding(name);
  const inside = path.getFunctionParent();
  if (
    binding === undefined ||
    inside === null ||
    binding.scope.getFunctionParent()?.path.node !== inside.node
  )
    return `the variable ${name}`;
  for (const reference of binding.referencePaths) {
    const { parent: user, parentPath } = reference;
    if (user.type === 'AssignmentExpression' && parentPath !== null && isCacheSlot(parentPath, user.left))
      continue;
    // A cycle of variables has more than elements in it.
    if (user.type === 'VariableDeclarator' || user.type === 'AssignmentExpression')
      return `the variable ${name}`;
    if (reference.getFunctionParent()?.node !== inside.node) return `the variable ${name}`;
    if (seen(reference, places) !== undefined) return `the variable ${name}`;
  }
  return undefined;
}

function rootOf(path: NodePath, places: Places): Component | undefined {
  const inside = path.getFunctionParent();
  const component = inside === null ? undefined : places.components.get(inside.node);
  if (inside === null || component === undefined) return undefined;
  let at: NodePath = path;
  while (
    at.parentPath?.isParenthesizedExpression() === true ||
    at.parentPath?.isTSNonNullExpression() === true
  )
    at = at.parentPath;
  if (at.parentPath === inside) return component;
  if (at.parentPath?.isReturnStatement() !== true || at.parentPath.parentPath?.parentPath !== inside)
    return undefined;
  let returns = 0;
  inside.traverse({
    ReturnStatement(inner) {
      if (inner.getFunctionParent() === inside) returns++;
    },
  });
  return returns === 1 ? component : undefined;
}

const attributeName = ({ name }: t.JSXAttribute): unknown =>
  name.type === 'JSXIdentifier' ? name.name : name.name.name;
