/** Pages for tests, and what an HTML parser makes of them. */
import type { Readable } from 'node:stream';
import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from 'parse5';
import type { PlainView } from '../../src/adapters/plain.js';
import { escapeHtml } from '../../src/state/escape.js';
import { createRegistry, type Registry } from '../../src/registry/registry.js';
import type { Page } from '../../src/pages/options.js';

export type Element = DefaultTreeAdapterTypes.Element;
type Node = DefaultTreeAdapterTypes.Node;

/** `Text` shows its title, `Frame` its slots, `Throws` throws. */
export function registryForTests(): Registry {
  const registry = createRegistry();
  const text: PlainView<{ title?: unknown }> = ({ title }) => `<p>${escapeHtml(String(title))}</p>`;
  const frame: PlainView = (_props, { slots }) =>
    `<section>${slots.names.map((name) => slots.html(name)).join('<hr>')}</section>`;
  registry.register('Text', text);
  registry.register('Frame', frame);
  registry.register('Static', text, { rendering: 'static' });
  registry.register('Client', text, { rendering: 'client', placeholder: '<i>soon</i>' });
  registry.register('Throws', () => {
    throw new Error('It threw');
  });
  return registry;
}

export async function textOf({ body }: Page): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const chunk of body as Readable & AsyncIterable<Buffer | string>) text += chunk.toString();
  return text;
}

export function* elementsOf(node: Node): Generator<Element> {
  if (defaultTreeAdapter.isElementNode(node)) yield node;
  if ('content' in node) yield* elementsOf(node.content);
  if ('childNodes' in node) for (const child of node.childNodes) yield* elementsOf(child);
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((each) => each.name === name)?.value;
}

export function innerText(element: Element): string {
  let text = '';
  for (const child of element.childNodes) {
    if (defaultTreeAdapter.isTextNode(child)) text += child.value;
    else if (defaultTreeAdapter.isElementNode(child)) text += innerText(child);
  }
  return text;
}

export interface FoundBox {
  readonly id: string;
  readonly name: string;
  readonly hole: string | undefined;
  readonly element: Element;
}

export function boxesIn(html: string): readonly FoundBox[] {
  return [...elementsOf(parse(html))]
    .filter(({ tagName }) => tagName === 'sluice-box')
    .map((element) => ({
      id: attribute(element, 'i') ?? '',
      name: attribute(element, 'n') ?? '',
      hole: attribute(element, 'hole'),
      element,
    }));
}

/** What the page says of itself. */
export function pageDataIn(html: string): Readonly<Record<string, unknown>> {
  for (const element of elementsOf(parse(html))) {
    if (attribute(element, 'data-sluice-page') !== undefined)
      return JSON.parse(innerText(element)) as Readonly<Record<string, unknown>>;
  }
  throw new Error('the page says nothing of itself');
}

/** Texts of state by the box. */
export function statesIn(html: string): ReadonlyMap<string, string> {
  return new Map(
    [...elementsOf(parse(html))]
      .filter(({ tagName }) => tagName === 'script')
      .flatMap((element) => {
        const id = attribute(element, 'data-sluice');
        return id === undefined ? [] : [[id, innerText(element)] as const];
      }),
  );
}
