/** Values that are known at build time: literals, and objects of literals for `style`. */
import type { types as t } from '@babel/core';

export type Types = typeof t;
export type Literal = string | number | boolean | null | undefined;
export type StaticValue = Literal | Readonly<Record<string, Literal>>;

/** Undefined where the value is not known; `{ value: undefined }` where it is, and is undefined. */
export function literalOf(node: t.Node): { readonly value: Literal } | undefined {
  if (node.type === 'StringLiteral' || node.type === 'NumericLiteral' || node.type === 'BooleanLiteral') {
    return { value: node.value };
  }
  if (node.type === 'NullLiteral') return { value: null };
  if (node.type === 'TemplateLiteral') {
    const text = node.expressions.length === 0 ? node.quasis[0]?.value.cooked : undefined;
    return typeof text === 'string' ? { value: text } : undefined;
  }
  if (node.type === 'UnaryExpression' && node.argument.type === 'NumericLiteral') {
    if (node.operator === 'void') return { value: undefined };
    return node.operator === '-' ? { value: -node.argument.value } : undefined;
  }
  return isTransparent(node) ? literalOf(node.expression) : undefined;
}

const isTransparent = (
  node: t.Node,
): node is t.TSAsExpression | t.TSSatisfiesExpression | t.TSNonNullExpression | t.ParenthesizedExpression =>
  ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'ParenthesizedExpression'].includes(
    node.type,
  );

/** The same for an object whose keys and values are literals, in its order of properties. */
export function staticObjectOf(node: t.Node): Readonly<Record<string, Literal>> | undefined {
  if (node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression')
    return staticObjectOf(node.expression);
  if (node.type !== 'ObjectExpression') return undefined;
  const object: Record<string, Literal> = {};
  for (const property of node.properties) {
    if (property.type !== 'ObjectProperty' || property.computed) return undefined;
    const name = propertyName(property.key);
    const literal = literalOf(property.value);
    if (name === undefined || name === '__proto__' || literal === undefined) return undefined;
    object[name] = literal.value;
  }
  return object;
}

function propertyName(key: t.Node): string | undefined {
  if (key.type === 'Identifier') return key.name;
  return key.type === 'StringLiteral' ? key.value : undefined;
}

/** The expression that an attribute is given; undefined where it is none. */
export function expressionOf(node: t.JSXAttribute['value']): t.Expression | undefined {
  if (node?.type === 'StringLiteral') return node;
  if (node?.type !== 'JSXExpressionContainer' || node.expression.type === 'JSXEmptyExpression')
    return undefined;
  return node.expression;
}
