/**
 * Writes templates by their definition alone, as plainly as possible, and leaves the rest to react-dom. Only for trees of
 * host elements and components without hooks.
 */
import './production.js';
import { createElement, Fragment, isValidElement, type ReactElement, type ReactNode } from 'react';
import { renderToStaticMarkup, renderToString } from 'react-dom/server';
import type { Template, TemplateElement } from '@sluice/react/template';

const MARKER = '<!-- -->';

class Writer {
  html = '';
  lastIsText = false;

  node(node: ReactNode): void {
    if (typeof node === 'string' || typeof node === 'number') this.text(String(node));
    else if (Array.isArray(node)) for (const child of node as ReactNode[]) this.node(child);
    else if (isTemplate(node)) this.template(node.$$template, node.$$values);
    else if (isValidElement(node)) this.element(node as ReactElement<{ children?: ReactNode }>);
  }

  private text(text: string): void {
    if (text === '') return;
    if (this.lastIsText) this.html += MARKER;
    this.html += renderToStaticMarkup(text);
    this.lastIsText = true;
  }

  private element({ type, props }: ReactElement<{ children?: ReactNode }>): void {
    if (type === Fragment) return this.node(props.children);
    if (typeof type === 'function') return this.node((type as (props: object) => ReactNode)(props));
    this.html += renderToString(createElement(type, props));
    this.lastIsText = false;
  }

  private template({ pieces, holes }: Template, values: readonly unknown[]): void {
    this.html += pieces[0];
    this.lastIsText = false;
    for (const [index, hole] of holes.entries()) {
      const value = values[index];
      if (hole[0] === 0) {
        if (hole[1] !== 2) this.lastIsText = hole[1] === 1;
        this.node(value as ReactNode);
        if (hole[2] === 1 && this.lastIsText) this.html += MARKER;
      } else if (hole[0] === 1) {
        const tag = hole[2] === 'img' ? 'source' : hole[2];
        const html = renderToStaticMarkup(createElement(tag, { [hole[1]]: value }));
        this.html += html.slice(tag.length + 1, html.endsWith('/>') ? -2 : -(tag.length + 4));
      }
      this.html += pieces[index + 1];
    }
    this.lastIsText = false;
  }
}

function isTemplate(node: unknown): node is TemplateElement {
  return typeof node === 'object' && node !== null && '$$template' in node;
}

export function renderByDefinition(node: ReactNode): string {
  const writer = new Writer();
  writer.node(node);
  return writer.html;
}
