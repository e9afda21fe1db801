/**
 * Reads elements of components, `<Card title={title} />`, whose type and props are known without making the element: neither key nor ref,
 * nothing spread. Whatever JSX transforms do not agree on, or may treat as their own, stays JSX.
 */
import type { types as t } from '@babel/core';
import { type Types, expressionOf } from './static-value.js';
import { jsxText } from './text.js';

export interface Component {
  readonly type: t.Identifier | t.MemberExpression;
  readonly props: t.ObjectExpression;
  /** Number of children among the props: from two on they are an array there. */
  readonly childCount: number;
}

/** Attributes that are no props, that children come in as well, or that later build steps know. */
const REFUSED = new Set(['key', 'ref', 'children', 'css', '__self', '__source', '__proto__']);

/** Undefined if the element stays JSX. */
export function readComponent(types: Types, element: t.JSXElement): Component | undefined {
  const { openingElement } = element;
  const type = typeOf(types, openingElement.name);
  if (type === undefined) return undefined;
  const properties: t.ObjectProperty[] = [];
  const add = (name: string, value: t.Expression): void => {
    const key = types.isValidIdentifier(name, false) ? types.identifier(name) : types.stringLiteral(name);
    properties.push(types.objectProperty(key, value));
  };
  const names = new Set<string>();
  for (const node of openingElement.attributes) {
    if (node.type === 'JSXSpreadAttribute' || node.name.type !== 'JSXIdentifier') return undefined;
    const { name } = node.name;
    if (names.has(name) || REFUSED.has(name)) return undefined;
    names.add(name);
    const value = node.value ? expressionOf(node.value) : types.booleanLiteral(true);
    if (value === undefined) return undefined;
    // JSX transforms disagree on line feeds in quotes.
    if (node.value?.type === 'StringLiteral' && /[\r\n]/.test(node.value.value)) return undefined;
    add(name, plain(types, value));
  }
  const children = childrenOf(types, element.children);
  if (children === undefined) return undefined;
  const [only] = children;
  if (only !== undefined) add('children', children.length === 1 ? only : types.arrayExpression(children));
  return { type, props: types.objectExpression(properties), childCount: children.length };
}

function typeOf(
  types: Types,
  name: t.JSXOpeningElement['name'],
): t.Identifier | t.MemberExpression | undefined {
  if (name.type === 'JSXIdentifier')
    return /^[A-Z_$][\w$]*$/.test(name.name) ? at(name, types.identifier(name.name)) : undefined;
  if (name.type !== 'JSXMemberExpression') return undefined;
  const { object } = name;
  // The first name may be in small letters here.
  const from =
    object.type === 'JSXIdentifier' && /^[A-Za-z_$][\w$]*$/.test(object.name) && object.name !== 'this'
      ? at(object, types.identifier(object.name))
      : typeOf(types, object);
  if (from === undefined || !/^[\w$]+$/.test(name.property.name)) return undefined;
  return at(name, types.memberExpression(from, types.identifier(name.property.name)));
}

function childrenOf(types: Types, nodes: t.JSXElement['children']): t.Expression[] | undefined {
  const children: t.Expression[] = [];
  for (const node of nodes) {
    if (node.type === 'JSXSpreadChild') return undefined;
    if (node.type === 'JSXText') {
      const text = jsxText((node.extra?.['raw'] as string | undefined) ?? node.value, node.value);
      if (text === undefined) return undefined;
      if (text !== '') children.push(types.stringLiteral(text));
    } else if (node.type !== 'JSXExpressionContainer') children.push(node);
    else if (node.expression.type !== 'JSXEmptyExpression') children.push(node.expression);
  }
  return children;
}

/** Quotes in JSX follow other rules than those in an expression. */
function plain(types: Types, value: t.Expression): t.Expression {
  return value.type === 'StringLiteral' ? types.stringLiteral(value.value) : value;
}

function at<Node extends t.Node>(original: t.Node, copy: Node): Node {
  copy.loc = original.loc ?? null;
  return copy;
}
