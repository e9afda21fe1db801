/// <reference lib="dom" />
/**
 * The markup around a fragment by which browser code finds its place and its data: a `<div>` and a `<script>` that share a key
 * and an id. The data in it is inert: it has no `<`, so that neither an end tag nor a comment begins in it. Runs anywhere.
 */

const LEFT = '<!--';
const RIGHT = '-->';
/** Names of the `data-` attributes that place and data of a fragment share. */
export const DATA_KEY = 'hypernova-key';
export const DATA_ID = 'hypernova-id';

const IN_DATA = /[&<>]/g;
const IN_DATA_ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '>': '&gt;', '<': '\\u003c' };
const IN_ATTRIBUTE = /[&"<>]/g;
const IN_ATTRIBUTE_ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
};

export interface Loaded {
  readonly id: string;
  readonly node: HTMLElement;
  readonly data: unknown;
}

/** HTML with what the browser needs to take it over: `load` finds it by the same name. The id is unique in the document. */
export function serialize(
  name: string,
  html: string,
  data: unknown,
  id: string = crypto.randomUUID(),
): string {
  const attributes = `data-${DATA_KEY}="${keyOf(name)}" data-${DATA_ID}="${escapeAttribute(id)}"`;
  return `<div ${attributes}>${html}</div>\n${scriptOf(attributes, data)}`;
}

/** A script element with data, which `fromScript` finds by the same `data-` attributes. */
export function toScript(attributes: Readonly<Record<string, string>>, data: unknown): string {
  return scriptOf(attributesText(attributes), data);
}

function scriptOf(attributes: string, data: unknown): string {
  const json = jsonOf(data).replace(IN_DATA, (character) => IN_DATA_ESCAPED[character] ?? '');
  return `<script type="application/json" ${attributes}>${LEFT}${json}${RIGHT}</script>`;
}

/** Returns the data of the first script with these `data-` attributes; null if there is none. For the browser. */
export function fromScript(attributes: Readonly<Record<string, string>>): unknown {
  const selectors = Object.entries(attributes).map(
    ([name, value]) => `[data-${attributeName(name)}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"]`,
  );
  const script = document.querySelector(`script${selectors.join('')}`);
  if (script === null) return null;
  const text = (script.textContent ?? '').slice(LEFT.length, -RIGHT.length);
  // In this order: an `&gt;` of the data is `&amp;gt;` here.
  return JSON.parse(text.replaceAll('&gt;', '>').replaceAll('&amp;', '&')) as unknown;
}

/** Returns the places of all fragments of this name, with their data. For the browser. */
export function load(name: string): Loaded[] {
  const key = keyOf(name);
  const nodes = document.querySelectorAll<HTMLElement>(`div[data-${DATA_KEY}="${key}"]`);
  return Array.from(nodes, (node) => {
    const id = node.getAttribute(`data-${DATA_ID}`) ?? '';
    return { id, node, data: fromScript({ [DATA_KEY]: key, [DATA_ID]: id }) };
  });
}

/** Letters, digits and `_` alone, as Hypernova's browser code looks for it. */
function keyOf(name: string): string {
  return name.replaceAll(/\W/g, '');
}

function attributesText(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => `data-${attributeName(name)}="${escapeAttribute(value)}"`)
    .join(' ');
}

function attributeName(name: string): string {
  return name.toLowerCase().replaceAll(/[^0-9a-z_-]/g, '');
}

function escapeAttribute(value: string): string {
  return value.replace(IN_ATTRIBUTE, (character) => IN_ATTRIBUTE_ESCAPED[character] ?? '');
}

/** Writes JSON without keys named `__proto__`, which would replace the prototype of what the browser copies the data to. */
function jsonOf(data: unknown): string {
  const json = JSON.stringify(data) as string | undefined;
  if (json === undefined) return 'null';
  if (!json.includes('__proto__')) return json;
  return JSON.stringify(data, (key, value: unknown) => (key === '__proto__' ? undefined : value));
}
