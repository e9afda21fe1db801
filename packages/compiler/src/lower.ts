/**
 * Turns a tree of host JSX into the pieces and holes of one template. Pure, but for what react-dom is asked.
 * The shape is `Template` in `@sluice/react/template`; the values of holes stay where they were and in their order.
 */
import type { types as t } from '@babel/core';
import type { Attribute, Child, Reader } from './read.js';
import type { Types } from './static-value.js';
import { isVoidTag } from './tags.js';
import { escapeHtml } from './text.js';

type PathStep = readonly [tag: string | null, key: string | null, length: number, index: number];
type Hole =
  | [kind: 0, before: 0 | 1 | 2, followed: 0 | 1, path: readonly PathStep[]]
  | [kind: 1, name: string, tag: string]
  | [kind: 2]
  | [kind: 3, before: 0 | 1 | 2, followed: 0 | 1, path: readonly PathStep[]]
  | [kind: 4];

export interface Lowered {
  readonly pieces: readonly string[];
  readonly holes: readonly Readonly<Hole>[];
  /** The expressions for the holes, moved out of the JSX. */
  readonly values: readonly t.Expression[];
  /** The JSX with `values[i]` in the place of each hole. */
  readonly ordinary: t.JSXElement;
  /** Names that `ordinary` has for values that are types, which JSX takes by name only. */
  readonly types: readonly { readonly name: string; readonly value: number }[];
  /** Key of the root; undefined if it has none. */
  readonly key: t.Expression | undefined;
}

/** Names in the function that builds the ordinary element. Its JSX refers to nothing else. */
export const VALUES = 'values';
export const KEY = 'key';

/** Lowers an element; undefined if the root itself stays the runtime's. */
export function lower(types: Types, reader: Reader, root: t.JSXElement): Lowered | undefined {
  const pieces: string[] = [];
  const holes: Hole[] = [];
  const values: t.Expression[] = [];
  let piece = '';
  /** Kind of what was written last: 0 a tag, 1 text, 2 a child hole. The same numbers as in holes. */
  let last: 0 | 1 | 2 = 0;
  const named: Lowered['types'][number][] = [];

  const rootHost = reader.host(root);
  if (rootHost === undefined) return undefined;
  const ordinary = host(root, [], true);
  pieces.push(piece);
  return { pieces, holes, values, ordinary, types: named, key: rootHost.key };

  function host(element: t.JSXElement, path: readonly PathStep[], isRoot: boolean): t.JSXElement {
    const read = reader.host(element);
    if (read === undefined) throw new Error('Only elements that can be read are lowered.');
    const { tag, attributes, children } = read;
    piece += `<${tag}`;
    const props = attributes.map((attribute) => writeAttribute(tag, attribute));
    if (read.key !== undefined) {
      const key = isRoot ? types.identifier(KEY) : copy(read.key);
      props.push(types.jsxAttribute(types.jsxIdentifier('key'), types.jsxExpressionContainer(key)));
    }
    last = 0;
    const name = () => types.jsxIdentifier(tag);
    if (isVoidTag(tag)) {
      piece += '/>';
      return at(element, types.jsxElement(types.jsxOpeningElement(name(), props, true), null, []));
    }
    piece += '>';
    const content = writeChildren(children, path, tag, isRoot ? null : read.staticKey);
    piece += `</${tag}>`;
    last = 0;
    return at(
      element,
      types.jsxElement(types.jsxOpeningElement(name(), props), types.jsxClosingElement(name()), content),
    );
  }

  function writeAttribute(tag: string, attribute: Attribute): t.JSXAttribute {
    const name = types.jsxIdentifier(attribute.name);
    if (attribute.html === undefined) {
      const value = hole(attribute.isIgnored ? [2] : [1, attribute.name, tag], attribute.value);
      return types.jsxAttribute(name, types.jsxExpressionContainer(value));
    }
    piece += attribute.html;
    return types.jsxAttribute(name, attribute.value && types.jsxExpressionContainer(copy(attribute.value)));
  }

  function writeChildren(
    children: readonly Child[],
    path: readonly PathStep[],
    tag: string | null,
    key: string | null,
  ): t.JSXElement['children'] {
    return children.map((child, index) => {
      const here = [...path, [tag, key, children.length, index] as const];
      switch (child.kind) {
        case 'text':
          writeText(child.text);
          return types.jsxExpressionContainer(types.stringLiteral(child.text));
        case 'static':
          writeText(child.text);
          return types.jsxExpressionContainer(copy(child.node));
        case 'host':
          return host(child.node, here, false);
        case 'fragment': {
          const content = writeChildren(child.children, here, null, null);
          return at(
            child.node,
            types.jsxFragment(types.jsxOpeningFragment(), types.jsxClosingFragment(), content),
          );
        }
        case 'component': {
          const content = component(child, here);
          last = 2;
          return content;
        }
        case 'dynamic': {
          const value = hole([0, last, 0, here], child.node);
          last = 2;
          return types.jsxExpressionContainer(value);
        }
      }
    });
  }

  function component(child: Child & { kind: 'component' }, here: readonly PathStep[]): t.JSXElement {
    const value = values.length;
    const name = `Type${value}`;
    named.push({ name, value });
    hole([3, last, 0, here], child.type);
    const given = hole([4], child.props);
    // Children that are an array in the props were arguments: a development build looks for their keys otherwise.
    const isArray = child.childCount > 1;
    const children = Array.from({ length: isArray ? child.childCount : 0 }, (_, index) => {
      const all = types.memberExpression(types.cloneNode(given), types.identifier('children'));
      return types.jsxExpressionContainer(types.memberExpression(all, types.numericLiteral(index), true));
    });
    const identifier = () => types.jsxIdentifier(name);
    const spread = [types.jsxSpreadAttribute(given)];
    return at(
      child.node,
      types.jsxElement(
        types.jsxOpeningElement(identifier(), spread, !isArray),
        isArray ? types.jsxClosingElement(identifier()) : null,
        children,
      ),
    );
  }

  function writeText(text: string): void {
    if (text === '') return;
    if (last === 1) piece += '<!-- -->';
    const before = holes.findLast(([kind]) => kind !== 4);
    if (last === 2 && (before?.[0] === 0 || before?.[0] === 3)) before[2] = 1;
    piece += escapeHtml(text);
    last = 1;
  }

  function hole(hole: Hole, value: t.Expression): t.Expression {
    pieces.push(piece);
    piece = '';
    holes.push(hole);
    const index = types.numericLiteral(values.push(value) - 1);
    return at(value, types.memberExpression(types.identifier(VALUES), index, true));
  }

  /** Copies an expression without how it was written: quotes in JSX follow other rules than those in an expression. */
  function copy(node: t.Expression): t.Expression {
    return node.type === 'StringLiteral' ? types.stringLiteral(node.value) : types.cloneNode(node);
  }

  /** Gives the copy the place of its original, for source maps and component stacks of development builds. */
  function at<T extends t.Node>(original: t.Node, copy: T): T {
    copy.loc = original.loc ?? null;
    return copy;
  }
}
