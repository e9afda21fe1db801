/**
 * Writes templates by their definition alone, as plainly as possible, and leaves the rest to react-dom. Only for trees of
 * host elements and components without hooks.
 */
import type { ReactElement, ReactNode } from 'react';
import type { Template, TemplateElement } from '@sluice/react/template';
import type { Version } from './versions.js';

const MARKER = '<!-- -->';

class Writer {
  html = '';
  lastIsText = false;
  readonly #react: Version['react'];
  readonly #jsx: Version['jsx'];
  readonly #server: Version['server'];

  constructor({ react, jsx, server }: Version) {
    this.#react = react;
    this.#jsx = jsx;
    this.#server = server;
  }

  node(node: ReactNode): void {
    if (typeof node === 'string' || typeof node === 'number') this.#text(String(node));
    else if (Array.isArray(node)) for (const child of node as ReactNode[]) this.node(child);
    else if (isTemplate(node)) this.#template(node.$$template, node.$$values);
    else if (this.#react.isValidElement(node)) this.#element(node as ReactElement<{ children?: ReactNode }>);
  }

  #text(text: string): void {
    if (text === '') return;
    if (this.lastIsText) this.html += MARKER;
    this.html += this.#server.renderToStaticMarkup(text);
    this.lastIsText = true;
  }

  #element({ type, props }: ReactElement<{ children?: ReactNode }>): void {
    if (type === this.#react.Fragment) return this.node(props.children);
    if (typeof type === 'function') return this.node((type as (props: object) => ReactNode)(props));
    this.html += this.#server.renderToString(this.#react.createElement(type, props));
    this.lastIsText = false;
  }

  #template({ pieces, holes }: Template, values: readonly unknown[]): void {
    this.html += pieces[0];
    this.lastIsText = false;
    for (const [index, hole] of holes.entries()) {
      const value = hole[0] === 3 ? this.#jsx(values[index], values[index + 1] as object) : values[index];
      if (hole[0] === 0 || hole[0] === 3) {
        if (hole[1] !== 2) this.lastIsText = hole[1] === 1;
        this.node(value as ReactNode);
        if (hole[2] === 1 && this.lastIsText) this.html += MARKER;
      } else if (hole[0] === 1) {
        const tag = hole[2] === 'img' ? 'source' : hole[2];
        const html = this.#server.renderToStaticMarkup(this.#react.createElement(tag, { [hole[1]]: value }));
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

export function renderByDefinition(version: Version, node: ReactNode): string {
  const writer = new Writer(version);
  writer.node(node);
  return writer.html;
}
