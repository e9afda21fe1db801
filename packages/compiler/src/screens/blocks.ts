/**
 * Blocks: a widget and the widgets below it become one where they are always there, and have nothing but styles, texts and images. The renderer
 * then has one node for them, and one object of props with the values that change.
 */
import type { NodePath, types as t } from '@babel/core';
import { type Types, expressionOf, literalOf } from '../static-value.js';
import { jsxText } from '../text.js';
import { constantOf } from './constants.js';
import { PROPERTIES } from './properties.js';
import { familyOf, fieldsOf, hoistedObjectOf, objectOf, sendOf } from './widgets.js';

/** Bit of a place's groups that says that there is a block: `BLOCK` of the renderer. */
export const BLOCK = 128;
/** Bit of a place's groups that says that there are children. */
export const CHILDREN = 32;

/** Names that a widget of a block may have. */
const STRINGS: Readonly<Record<string, number | undefined>> = {
  text: PROPERTIES['text']?.[0],
  image: PROPERTIES['image']?.[0],
};
const NAMES = ['style', 'staticStyle', 'text', 'image'];

/** A value that goes into the props of the block's root. */
export interface Field {
  readonly name: string;
  readonly value: t.Expression;
}

export interface Block {
  /** Functions that the renderer calls, as an expression for the top of the module. */
  readonly value: t.Expression;
  readonly fields: readonly Field[];
  /** Number of widgets below the root. */
  readonly size: number;
}

/** Search for widgets that become one, before anything moves. */
export class Blocks {
  readonly #types: Types;
  readonly #isWidget: (name: t.JSXOpeningElement['name']) => boolean;
  /** Reason for which a widget is none of a block; undefined if it is one. */
  readonly #reasons = new WeakMap<t.Node, string | undefined>();
  readonly #inner = new WeakSet<t.Node>();
  readonly #roots = new WeakSet<t.Node>();

  constructor(types: Types, isWidget: (name: t.JSXOpeningElement['name']) => boolean) {
    this.#types = types;
    this.#isWidget = isWidget;
  }

  /** Whether the element is part of the block of an element above. */
  isInner(node: t.JSXElement): boolean {
    return this.#inner.has(node);
  }

  isRoot(node: t.JSXElement): boolean {
    return this.#roots.has(node);
  }

  /** Called for each element after those below it. */
  look(path: NodePath<t.JSXElement>): void {
    this.#reasons.set(path.node, this.#whyNot(path));
  }

  /**
   * Called for each element before those below it.
   *
   * @param isFree Whether nobody but the renderer sees the element.
   * @param react Major version.
   * @returns Why the element and those below it do not become one; undefined if they do, and '' if there is nothing to say.
   */
  begin({ node }: NodePath<t.JSXElement>, isFree: boolean, react: 18 | 19): string | undefined {
    const { openingElement } = node;
    if (this.#inner.has(node) || !this.#isWidget(openingElement.name)) return '';
    const below = elementsOf(node);
    if (typeof below === 'string') return below;
    if (below.length === 0) return '';
    if (!isFree) return 'other code sees the element';
    if (openingElement.attributes.some(({ type }) => type === 'JSXSpreadAttribute'))
      return 'the spread may contain children';
    // React 18 may copy the props then.
    if (react === 18 && openingElement.attributes.some((one) => nameOf(one as t.JSXAttribute) === 'ref'))
      return 'it has a ref';
    for (const element of below) {
      const reason = this.#reasons.get(element);
      if (reason !== undefined) return reason;
    }
    this.#roots.add(node);
    const mark = (element: t.JSXElement): void => {
      this.#inner.add(element);
      for (const inner of elementsOf(element)) mark(inner as t.JSXElement);
    };
    for (const element of below) mark(element);
    return undefined;
  }

  #whyNot(path: NodePath<t.JSXElement>): string | undefined {
    const { openingElement } = path.node;
    if (!this.#isWidget(openingElement.name)) return 'a descendant is not a Widget';
    const seen = new Set<string>();
    for (const attribute of openingElement.attributes) {
      if (attribute.type === 'JSXSpreadAttribute') return 'a descendant has a spread';
      const name = nameOf(attribute);
      if (!NAMES.includes(name)) return `one below has ${name}`;
      if (seen.has(name)) return `one below has ${name} twice`;
      seen.add(name);
      if (!attribute.value || expressionOf(attribute.value) === undefined)
        return `the ${name} of one below is empty`;
      if (attribute.value.type === 'StringLiteral' && /[\r\n]/.test(attribute.value.value))
        return `JSX transforms disagree on the line end in the ${name} of one below`;
    }
    const style = this.#styleReason(path);
    if (style !== undefined) return style;
    const below = elementsOf(path.node);
    if (typeof below === 'string') return below;
    return below.map((element) => this.#reasons.get(element)).find((reason) => reason !== undefined);
  }

  #styleReason(path: NodePath<t.JSXElement>): string | undefined {
    const types = this.#types;
    const attributes = path.node.openingElement.attributes as t.JSXAttribute[];
    const styles = attributes.filter(({ name }) => name.name === 'style' || name.name === 'staticStyle');
    const families: (string | undefined)[] = [];
    for (const attribute of styles) {
      const name = nameOf(attribute);
      const object = objectOf(attribute);
      if (object === undefined) return `the ${name} of one below is not written as { name: value }`;
      if (name === 'staticStyle' && constantOf(types, path, object) === undefined)
        return 'the staticStyle of one below is not constant';
      const fields = fieldsOf(object);
      if ('reason' in fields) return `in one below, ${fields.reason}`;
      for (const field of fields.names) {
        if (families.includes(familyOf(field) ?? field)) return `one below has ${field} twice`;
      }
      families.push(...new Set(fields.names.map((field) => familyOf(field) ?? field)));
    }
    return undefined;
  }

  /** Makes the block of a root, whose elements have been compiled, and takes them out of it. */
  make(root: t.JSXElement): Block {
    const types = this.#types;
    const fields: Field[] = [];
    const mount: t.Statement[] = [];
    const update: t.Statement[] = [];
    const ids: t.Identifier[] = [];
    const visit = (element: t.JSXElement, parent: t.Expression): void => {
      const at = ids.length;
      const id = types.identifier(`w${at}`);
      ids.push(id);
      const values = valuesOf(types, element);
      const leaf = [parent, shared(types, element), types.numericLiteral(0), types.numericLiteral(0)];
      mount.push(constant(types, id, call(types, 'out', 'leaf', leaf)));
      for (const { name, value } of values) {
        const known = literalOf(value);
        // The first string comes with the widget.
        const code = STRINGS[name];
        const isFirst = code !== undefined && (leaf[2] as t.NumericLiteral).value === 0;
        if (isFirst) leaf[2] = types.numericLiteral(code);
        if (known !== undefined) {
          if (isFirst) leaf[3] = value;
          else if (known.value !== undefined && known.value !== null)
            mount.push(sendOf(types, name, value, id));
          continue;
        }
        const field = `$${fields.length}`;
        fields.push({ name: field, value });
        const [before, now] = ['before', 'now'].map((from) => read(types, from, field)) as [
          t.MemberExpression,
          t.MemberExpression,
        ];
        if (isFirst) leaf[3] = types.cloneNode(now);
        else
          mount.push(
            types.ifStatement(
              types.binaryExpression('!==', now, types.unaryExpression('void', types.numericLiteral(0))),
              sendOf(types, name, now, id),
            ),
          );
        const own = types.memberExpression(types.identifier('ids'), types.numericLiteral(at), true);
        update.push(
          types.ifStatement(types.binaryExpression('!==', before, now), sendOf(types, name, now, own)),
        );
      }
      for (const inner of elementsOf(element)) visit(inner as t.JSXElement, types.cloneNode(id));
    };
    for (const element of elementsOf(root)) visit(element as t.JSXElement, types.identifier('parent'));
    mount.push(types.returnStatement(types.arrayExpression(ids.map((id) => types.cloneNode(id)))));
    root.children = [];
    const value = types.objectExpression([
      method(types, 'mount', ['parent', 'now', 'out'], mount),
      method(types, 'update', ['ids', 'before', 'now', 'out'], update),
    ]);
    return { value, fields, size: ids.length };
  }
}

/** Elements that stand below one as they are; or why something else does. */
function elementsOf({ children }: t.JSXElement): readonly t.JSXElement[] | string {
  const elements: t.JSXElement[] = [];
  for (const child of children) {
    if (child.type === 'JSXElement') elements.push(child);
    else if (child.type === 'JSXText' ? !isBlank(child) : !isEmpty(child))
      return 'the children are not written as elements alone';
  }
  return elements;
}

/** Whether JSX drops the text: a space without a line end, or one that is written as an entity, is a child. */
const isBlank = ({ value, extra }: t.JSXText): boolean =>
  jsxText((extra?.['raw'] as string | undefined) ?? value, value) === '';

const isEmpty = (child: t.JSXElement['children'][number]): boolean =>
  child.type === 'JSXExpressionContainer' && child.expression.type === 'JSXEmptyExpression';

interface Value {
  readonly name: string;
  readonly value: t.Expression;
}

/** Values of an element besides its shared style, in the order in which they are written. */
function valuesOf(types: Types, element: t.JSXElement): Value[] {
  const values: Value[] = [];
  for (const attribute of element.openingElement.attributes as t.JSXAttribute[]) {
    const name = nameOf(attribute);
    if (name === 'staticStyle') continue;
    if (name !== 'style') {
      const value = expressionOf(attribute.value) as t.Expression;
      const plain = value.type === 'StringLiteral' ? types.stringLiteral(value.value) : value;
      values.push({ name, value: plain });
      continue;
    }
    const object = (hoistedObjectOf(attribute) ?? objectOf(attribute)) as t.ObjectExpression;
    for (const property of object.properties as t.ObjectProperty[]) {
      const field =
        property.key.type === 'Identifier' ? property.key.name : (property.key as t.StringLiteral).value;
      values.push({ name: field, value: property.value as t.Expression });
    }
  }
  return values;
}

/** The constant that is the element's shared style. */
function shared(types: Types, element: t.JSXElement): t.Expression {
  const attribute = (element.openingElement.attributes as t.JSXAttribute[]).find(
    ({ name }) => name.name === 'staticStyle',
  );
  const value = attribute === undefined ? undefined : expressionOf(attribute.value);
  return value === undefined
    ? types.unaryExpression('void', types.numericLiteral(0))
    : types.cloneNode(value);
}

const read = (types: Types, object: string, name: string): t.MemberExpression =>
  types.memberExpression(types.identifier(object), types.identifier(name));

const call = (types: Types, object: string, name: string, values: t.Expression[]): t.Expression =>
  types.callExpression(read(types, object, name), values);

const constant = (types: Types, id: t.Identifier, value: t.Expression): t.Statement =>
  types.variableDeclaration('const', [types.variableDeclarator(types.cloneNode(id), value)]);

const method = (
  types: Types,
  name: string,
  parameters: readonly string[],
  body: t.Statement[],
): t.ObjectProperty =>
  types.objectProperty(
    types.identifier(name),
    types.functionExpression(
      null,
      parameters.map((parameter) => types.identifier(parameter)),
      types.blockStatement(body),
    ),
  );

const nameOf = ({ name }: t.JSXAttribute): string =>
  name.type === 'JSXIdentifier' ? name.name : `${name.namespace.name}:${name.name.name}`;
