/** Elements and their props as literals. */
import type { NodePath, types as t } from '@babel/core';
import { literalOf } from '../static-value.js';
import { keyOf } from './constants.js';
import type { Output } from './output.js';
import type { Read } from './read.js';
import { HOISTED } from './widgets.js';

export class Literals {
  readonly #out: Output;
  /** Elements that are the same at each render. */
  readonly constantElements = new WeakSet<t.Node>();

  constructor(out: Output) {
    this.#out = out;
  }

  copy(read: Read): t.Expression {
    const types = this.#out.types;
    const key = read.key === undefined ? [] : [read.key];
    return types.callExpression(this.#out.runtime('copied'), [read.type, this.props(read), ...key]);
  }

  props({ attributes, children }: Read, prototype?: t.Expression): t.ObjectExpression {
    const types = this.#out.types;
    const properties: t.ObjectExpression['properties'] = [];
    if (prototype !== undefined)
      properties.push(types.objectProperty(types.identifier('__proto__'), prototype));
    for (const attribute of attributes) {
      if (attribute.kind === 'spread') properties.push(types.spreadElement(attribute.value));
      else if (
        attribute.name === 'ref' &&
        this.#out.react === 18 &&
        !attributes.some(({ kind }) => kind === 'spread')
      )
        continue;
      else properties.push(types.objectProperty(keyOf(types, attribute.name), attribute.value));
    }
    const [only] = children;
    if (only !== undefined) {
      const value = children.length === 1 ? only : types.arrayExpression([...children]);
      properties.push(types.objectProperty(types.identifier('children'), value));
    }
    return types.objectExpression(properties);
  }

  literal(
    type: t.Expression,
    key: t.Expression,
    props: t.Expression,
    comparison?: t.Expression,
  ): t.Expression {
    const types = this.#out.types;
    const entries: [string, t.Expression][] = [
      ['$$typeof', this.#out.elementType()],
      ['type', type],
      ['key', key],
      ['ref', types.nullLiteral()],
      ['props', props],
    ];
    if (this.#out.react === 18) entries.push(['_owner', types.nullLiteral()]);
    if (comparison !== undefined) entries.push(['$e', comparison]);
    return types.objectExpression(
      entries.map(([name, value]) => types.objectProperty(types.identifier(name), value)),
    );
  }

  /** A widget's element that nobody but the renderer sees: what is the same in all of them is in their prototype. */
  widgetLiteral(key: t.Expression, props: t.Expression): t.Expression {
    const types = this.#out.types;
    const entries: [string, t.Expression][] = [['__proto__', this.#out.widgetElement()]];
    if (key.type !== 'NullLiteral') entries.push(['key', key]);
    entries.push(['props', props]);
    return types.objectExpression(
      entries.map(([name, value]) => types.objectProperty(types.identifier(name), value)),
    );
  }

  /** The key as React makes it, where evaluating it before the props changes nothing; else undefined. */
  literalKey(path: NodePath, { key, attributes, children }: Read): t.Expression | undefined {
    const types = this.#out.types;
    if (key === undefined) return types.nullLiteral();
    const known = literalOf(key);
    if (known !== undefined) {
      return known.value === undefined ? types.nullLiteral() : types.stringLiteral(String(known.value));
    }
    if (key.type !== 'Identifier' || path.scope.getBinding(key.name)?.constant !== true) {
      const isQuiet = [...attributes.map(({ value }) => value), ...children].every(
        (one) => literalOf(one) !== undefined,
      );
      if (!isQuiet || key.type !== 'TemplateLiteral') return undefined;
      return key;
    }
    return types.conditionalExpression(
      types.binaryExpression('===', types.cloneNode(key), this.#out.undefined()),
      types.nullLiteral(),
      types.binaryExpression('+', types.stringLiteral(''), key),
    );
  }

  isConstant({ type, attributes, children }: Read): boolean {
    const isFixed = (node: t.Expression): boolean =>
      literalOf(node) !== undefined ||
      HOISTED.has(node) ||
      this.constantElements.has(node) ||
      (node.type === 'ArrayExpression' &&
        node.elements.every((one) => one !== null && isFixed(one as t.Expression)));
    if (type.type !== 'Identifier' && type.type !== 'StringLiteral') return false;
    return (
      attributes.every(({ kind, value }) => kind === 'value' && isFixed(value)) && children.every(isFixed)
    );
  }

  /** Moves constant elements within the props of one that is not constant. */
  hoistConstants(path: NodePath, props: t.ObjectExpression): void {
    const moved = (node: t.Expression): t.Expression =>
      this.constantElements.has(node) && node.type === 'ObjectExpression' ? this.hoisted(path, node) : node;
    for (const property of props.properties) {
      if (property.type !== 'ObjectProperty') continue;
      const value = property.value as t.Expression;
      if (value.type === 'ArrayExpression') {
        value.elements = value.elements.map((one) => one && moved(one as t.Expression));
      } else property.value = moved(value);
    }
  }

  hoisted(path: NodePath, element: t.Expression): t.Expression {
    if (path.getFunctionParent() === null) return element;
    const name = this.#out.declare('element', element);
    this.constantElements.add(name);
    return name;
  }
}
