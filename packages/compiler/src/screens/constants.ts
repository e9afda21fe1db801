/** Constants of a module: values that are the same at each evaluation, and are moved out of components. */
import type { NodePath, types as t } from '@babel/core';
import { type Types, literalOf } from '../static-value.js';

/** A copy of the expression in which names of constants stand as their values; undefined if it is not constant. */
export function constantOf(types: Types, path: NodePath, node: t.Node): t.Expression | undefined {
  if (
    node.type === 'TSAsExpression' ||
    node.type === 'TSSatisfiesExpression' ||
    node.type === 'ParenthesizedExpression'
  )
    return constantOf(types, path, node.expression);
  if (node.type === 'Identifier') {
    const binding = path.scope.getBinding(node.name);
    if (node.name === 'undefined' && binding === undefined)
      return types.unaryExpression('void', types.numericLiteral(0));
    // Only literals: an object has an identity.
    const init = binding?.path.node;
    if (binding?.kind !== 'const' || init?.type !== 'VariableDeclarator' || init.id.type !== 'Identifier')
      return undefined;
    return init.init !== null && init.init !== undefined && literalOf(init.init) !== undefined
      ? plain(types, init.init)
      : undefined;
  }
  if (literalOf(node) !== undefined) return plain(types, node as t.Expression);
  if (node.type === 'ArrayExpression') {
    const elements = node.elements.map((one) => one && constantOf(types, path, one));
    return elements.every((one) => one !== undefined && one !== null)
      ? types.arrayExpression(elements)
      : undefined;
  }
  if (node.type !== 'ObjectExpression') return undefined;
  const properties: t.ObjectProperty[] = [];
  for (const property of node.properties) {
    const name = nameOf(property);
    if (name === undefined || property.type !== 'ObjectProperty') return undefined;
    const value = constantOf(types, path, property.value);
    if (value === undefined) return undefined;
    properties.push(types.objectProperty(keyOf(types, name), value));
  }
  return types.objectExpression(properties);
}

/** Name of a property that is written as `name: value`; undefined for every other one, and for `__proto__`. */
export function nameOf(property: t.ObjectExpression['properties'][number]): string | undefined {
  if (property.type !== 'ObjectProperty' || property.computed) return undefined;
  const { key } = property;
  const name = key.type === 'Identifier' ? key.name : key.type === 'StringLiteral' ? key.value : undefined;
  return name === '__proto__' ? undefined : name;
}

export const keyOf = (types: Types, name: string): t.Identifier | t.StringLiteral =>
  types.isValidIdentifier(name, false) ? types.identifier(name) : types.stringLiteral(name);

const plain = (types: Types, node: t.Expression): t.Expression =>
  node.type === 'StringLiteral' ? types.stringLiteral(node.value) : types.cloneNode(node, true, true);
