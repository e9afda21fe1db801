/** JSX as it is written: the parts of an element, and what its name stands for. */
import type { NodePath, types as t } from '@babel/core';
import { type Types, expressionOf } from '../static-value.js';
import { jsxText } from '../text.js';
import type { Field } from './blocks.js';

export type Attribute =
  | { readonly kind: 'value'; readonly name: string; readonly value: t.Expression }
  | { readonly kind: 'spread'; readonly value: t.Expression };

export interface Read {
  readonly type: t.Expression;
  readonly isHost: boolean;
  readonly attributes: readonly Attribute[];
  readonly children: readonly t.Expression[];
  readonly key: t.Expression | undefined;
  /** Whether `key` stands behind a spread: React's `createElement` is called there. */
  readonly isKeyLate: boolean;
  readonly ref: t.Expression | undefined;
}

const SCREENS = '@sluice/screens';
/** Components of React that hand their children to the renderer as they are. */
const TRANSPARENT = new Set(['Fragment', 'Suspense', 'StrictMode', 'Profiler']);

export class Reader {
  readonly #types: Types;
  readonly #program: NodePath<t.Program>;

  constructor(types: Types, program: NodePath<t.Program>) {
    this.#types = types;
    this.#program = program;
  }

  isWidget(name: t.JSXOpeningElement['name']): boolean {
    const imported = this.#imported(name);
    return imported?.source === SCREENS && imported.name === 'Widget';
  }

  isHost(name: t.JSXOpeningElement['name']): boolean {
    return (name.type === 'JSXIdentifier' && /^[a-z]/.test(name.name)) || this.isWidget(name);
  }

  isReacts(name: t.JSXOpeningElement['name']): boolean {
    const imported = this.#imported(name);
    return imported?.source === 'react' && TRANSPARENT.has(imported.name);
  }

  /**
   * Parts of an element, or the reason why it stays JSX.
   *
   * @param fields Further values of its props, behind the others.
   */
  read(node: t.JSXElement, fields: readonly Field[] = []): Read | string {
    const types = this.#types;
    const { openingElement } = node;
    const type = this.#typeOf(openingElement.name);
    if (type === undefined) return 'its name has a namespace';
    const attributes: Attribute[] = [];
    let key: t.Expression | undefined;
    let ref: t.Expression | undefined;
    let isKeyLate = false;
    for (const attribute of openingElement.attributes) {
      if (attribute.type === 'JSXSpreadAttribute') {
        attributes.push({ kind: 'spread', value: attribute.argument });
        continue;
      }
      if (attribute.name.type !== 'JSXIdentifier') return 'an attribute has a namespace';
      const { name } = attribute.name;
      if (['__proto__', '__self', '__source', '$u', '$m', '$k', '$b'].includes(name))
        return `the attribute ${name} has a meaning of its own`;
      const value = attribute.value ? expressionOf(attribute.value) : types.booleanLiteral(true);
      if (value === undefined) return `the attribute ${name} is empty`;
      if (attribute.value?.type === 'StringLiteral' && /[\r\n]/.test(attribute.value.value))
        return `JSX transforms disagree on the line end in ${name}`;
      const plain = value.type === 'StringLiteral' ? types.stringLiteral(value.value) : value;
      if (name === 'key') {
        if (key !== undefined || !attribute.value) return 'its key is given twice, or without a value';
        key = plain;
        isKeyLate = attributes.some(({ kind }) => kind === 'spread');
      } else {
        if (name === 'ref') ref = plain;
        attributes.push({ kind: 'value', name, value: plain });
      }
    }
    for (const { name, value } of fields) attributes.push({ kind: 'value', name, value });
    const children = this.children(node.children);
    if (typeof children === 'string') return children;
    return { type, isHost: this.isHost(openingElement.name), attributes, children, key, isKeyLate, ref };
  }

  children(nodes: t.JSXElement['children']): t.Expression[] | string {
    const types = this.#types;
    const children: t.Expression[] = [];
    for (const node of nodes) {
      if (node.type === 'JSXSpreadChild') return 'a child is spread';
      if (node.type === 'JSXText') {
        const text = jsxText((node.extra?.['raw'] as string | undefined) ?? node.value, node.value);
        if (text === undefined) return 'JSX transforms disagree on the spaces in its text';
        if (text !== '') children.push(types.stringLiteral(text));
      } else if (node.type !== 'JSXExpressionContainer') children.push(node);
      else if (node.expression.type !== 'JSXEmptyExpression') children.push(node.expression);
    }
    return children;
  }

  #imported(
    name: t.JSXOpeningElement['name'],
  ): { readonly source: string; readonly name: string } | undefined {
    if (name.type === 'JSXMemberExpression' && name.object.type === 'JSXIdentifier') {
      const binding = this.#program.scope.getBinding(name.object.name);
      const { node, parent } = binding?.path ?? {};
      if (parent?.type !== 'ImportDeclaration' || node === null) return undefined;
      return node?.type === 'ImportNamespaceSpecifier' || node?.type === 'ImportDefaultSpecifier'
        ? { source: parent.source.value, name: name.property.name }
        : undefined;
    }
    if (name.type !== 'JSXIdentifier') return undefined;
    const binding = this.#program.scope.getBinding(name.name);
    const { node, parent } = binding?.path ?? {};
    if (node?.type !== 'ImportSpecifier' || parent?.type !== 'ImportDeclaration') return undefined;
    const imported = node.imported.type === 'Identifier' ? node.imported.name : node.imported.value;
    return { source: parent.source.value, name: imported };
  }

  #typeOf(name: t.JSXOpeningElement['name']): t.Expression | undefined {
    const types = this.#types;
    if (name.type === 'JSXIdentifier') {
      if (name.name === 'this') return types.thisExpression();
      const isTag = /^[a-z]/.test(name.name) || name.name.includes('-');
      return isTag ? types.stringLiteral(name.name) : at(name, types.identifier(name.name));
    }
    if (name.type !== 'JSXMemberExpression') return undefined;
    const { object } = name;
    const from =
      object.type === 'JSXIdentifier' && object.name !== 'this'
        ? at(object, types.identifier(object.name))
        : this.#typeOf(object);
    return from && at(name, types.memberExpression(from, types.identifier(name.property.name)));
  }
}

export const nameOf = (name: t.JSXOpeningElement['name'] | t.JSXMemberExpression['object']): string =>
  name.type === 'JSXIdentifier'
    ? name.name
    : name.type === 'JSXMemberExpression'
      ? `${nameOf(name.object)}.${name.property.name}`
      : `${name.namespace.name}:${name.name.name}`;

function at<Node extends t.Node>(original: t.Node, copy: Node): Node {
  copy.loc = original.loc ?? null;
  return copy;
}
