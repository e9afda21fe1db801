/** Reads JSX: which elements can become parts of a template, and what their attributes and children are. */
import type { types as t } from '@babel/core';
import type { ReactDom } from './react-dom.js';
import { type Component, readComponent } from './components.js';
import {
  type Literal,
  type StaticValue,
  type Types,
  expressionOf,
  literalOf,
  staticObjectOf,
} from './static-value.js';
import { isEventHandler, isGeneralAttribute, isGeneralTag, isPreformatted, isVoidTag } from './tags.js';
import { jsxText } from './text.js';

export type Attribute =
  /** `value` null: the attribute stands alone, and is true. */
  | { readonly name: string; readonly html: string; readonly value: t.Expression | null }
  | {
      readonly name: string;
      readonly html: undefined;
      readonly isIgnored: boolean;
      readonly value: t.Expression;
    };

export type Child =
  | { readonly kind: 'text'; readonly text: string }
  /** A literal; its text is empty where React writes nothing for it. */
  | { readonly kind: 'static'; readonly text: string; readonly node: t.Expression }
  | { readonly kind: 'host'; readonly node: t.JSXElement }
  | { readonly kind: 'fragment'; readonly node: t.JSXFragment; readonly children: readonly Child[] }
  | ({ readonly kind: 'component'; readonly node: t.JSXElement } & Component)
  | { readonly kind: 'dynamic'; readonly node: t.Expression };

export interface Host {
  readonly tag: string;
  readonly attributes: readonly Attribute[];
  readonly children: readonly Child[];
  readonly key: t.Expression | undefined;
  /** The key as React makes it, where it is known at build time. */
  readonly staticKey: string | null;
}

export interface Reader {
  /** Host element, or undefined if it stays the runtime's. The same answer, by identity, for the same element. */
  host(element: t.JSXElement): Host | undefined;
}

export function tagOf(element: t.JSXElement): string | undefined {
  const { name } = element.openingElement;
  return name.type === 'JSXIdentifier' ? name.name : undefined;
}

/** `isUndefined` tells the global `undefined` from a variable of that name. `components`: whether elements of components are read. */
export function createReader(
  types: Types,
  reactDom: ReactDom,
  isUndefined: (node: t.Node) => boolean,
  components: boolean,
): Reader {
  const read = new Map<t.JSXElement, Host | undefined>();
  const literal = (node: t.Node): { readonly value: Literal } | undefined =>
    isUndefined(node) ? { value: undefined } : literalOf(node);

  function host(element: t.JSXElement): Host | undefined {
    if (!read.has(element)) read.set(element, readHost(element));
    return read.get(element);
  }

  function readHost(element: t.JSXElement): Host | undefined {
    const tag = tagOf(element);
    if (tag === undefined || !isGeneralTag(tag)) return undefined;
    const attributes: Attribute[] = [];
    const names = new Set<string>();
    let key: t.Expression | undefined;
    let isLazy = false;
    for (const node of element.openingElement.attributes) {
      if (node.type === 'JSXSpreadAttribute' || node.name.type !== 'JSXIdentifier') return undefined;
      const { name } = node.name;
      if (names.has(name) || !isGeneralAttribute(tag, name)) return undefined;
      names.add(name);
      if (name === 'key') {
        key = expressionOf(node.value);
        if (key === undefined) return undefined;
        continue;
      }
      const attribute = readAttribute(tag, name, node.value);
      if (attribute === undefined) return undefined;
      if (name === 'loading' && attribute.html === ' loading="lazy"') isLazy = true;
      attributes.push(attribute);
    }
    // Other images are preloaded, which depends on the rest of the page.
    if (tag === 'img' && !isLazy) return undefined;

    const children = readChildren(element.children);
    if (children === undefined || (isVoidTag(tag) && children.length > 0)) return undefined;
    if (isPreformatted(tag) && children.length === 1 && mayStartWithLineFeed(children[0])) return undefined;
    const known = key && literal(key);
    return {
      tag,
      attributes,
      children,
      key,
      staticKey: known?.value === undefined ? null : String(known.value),
    };
  }

  function readAttribute(tag: string, name: string, node: t.JSXAttribute['value']): Attribute | undefined {
    if (!node) return written(tag, name, true, null);
    const value = expressionOf(node);
    if (value === undefined) return undefined;
    // JSX transforms disagree on line feeds in quotes.
    if (node.type === 'StringLiteral' && /[\r\n]/.test(node.value)) return undefined;
    const known = literal(value);
    if (known !== undefined) return written(tag, name, known.value, value);
    const style = name === 'style' ? staticObjectOf(value) : undefined;
    if (style !== undefined) return written(tag, name, style, value);
    // Warnings are switched off per element, which is no business of a template.
    if (name.startsWith('suppress')) return undefined;
    return { name, html: undefined, isIgnored: isEventHandler(name), value };
  }

  function written(
    tag: string,
    name: string,
    known: StaticValue,
    value: t.Expression | null,
  ): Attribute | undefined {
    try {
      return { name, html: reactDom.attribute(tag, name, known), value };
    } catch {
      // An error that belongs to the render.
      return undefined;
    }
  }

  function readChildren(nodes: t.JSXElement['children']): Child[] | undefined {
    const children: Child[] = [];
    for (const node of nodes) {
      if (node.type === 'JSXSpreadChild') return undefined;
      if (node.type === 'JSXText') {
        const text = jsxText((node.extra?.['raw'] as string | undefined) ?? node.value, node.value);
        if (text === undefined) return undefined;
        if (text !== '') children.push({ kind: 'text', text });
      } else if (node.type === 'JSXElement') {
        children.push(readElement(node));
      } else if (node.type === 'JSXFragment') {
        const inner = readChildren(node.children);
        if (inner === undefined) return undefined;
        children.push({ kind: 'fragment', node, children: inner });
      } else if (node.expression.type !== 'JSXEmptyExpression') {
        children.push(readExpression(node.expression));
      }
    }
    return children;
  }

  /** An element with a key that is known at run time only is a template of its own, which evaluates the key where React does. */
  function isPart(node: t.JSXElement): boolean {
    const read = host(node);
    return read !== undefined && (read.key === undefined || read.staticKey !== null);
  }

  function readElement(node: t.JSXElement): Child {
    if (isPart(node)) return { kind: 'host', node };
    const component = components ? readComponent(types, node) : undefined;
    return component === undefined ? { kind: 'dynamic', node } : { kind: 'component', node, ...component };
  }

  function readExpression(node: t.Expression): Child {
    const known = literal(node);
    if (known === undefined)
      return node.type === 'JSXElement' ? readElement(node) : { kind: 'dynamic', node };
    const isText = typeof known.value === 'string' || typeof known.value === 'number';
    return { kind: 'static', text: isText ? String(known.value) : '', node };
  }

  return { host };
}

function mayStartWithLineFeed(child: Child | undefined): boolean {
  if (child?.kind === 'text' || child?.kind === 'static') return child.text.startsWith('\n');
  return child?.kind === 'dynamic' && child.node.type !== 'JSXElement';
}
