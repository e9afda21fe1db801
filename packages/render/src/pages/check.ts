/**
 * Check of trees: everything that is not as `tree.ts` says is refused with the place of the mistake, before anything of
 * it is rendered. It must not know data or components.
 */
import { isBinding, pathOf } from './bind.js';
import { isObject, isText, isWhole } from './shapes.js';
import type { PageTree } from './tree.js';

/** The tree is not one. */
export class InvalidTree extends TypeError {
  override readonly name = 'InvalidTree';
  /** Place of the mistake: `boxes[2].slots.default[0].if`. */
  readonly at: string;

  constructor(at: string, message: string) {
    super(`${at}: ${message}`);
    this.at = at;
  }
}

/** Bounds nodes of a tree, before `each`. */
export const NODES_MAX = 2_000;
/** Bounds how deep slots are nested. */
export const DEPTH_MAX = 32;
/** Bounds how deep values and conditions are nested. */
const VALUE_DEPTH_MAX = 64;
const NAME_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 4_096;
const TIMEOUT_MS_MAX = 60_000;
const SOURCES_MAX = 32;
const PAGE_ID = /^[\w./-]{1,64}$/;
const BOX_ID = /^[A-Za-z]\w{0,63}$/;
const SLOT = /^[A-Za-z][\w-]{0,63}$/;
const HYDRATIONS = ['load', 'idle', 'visible', 'interaction', 'media (…)'];
/** A media query; the browser hydrates nothing for one that it does not know. */
const MEDIA = /^media \S/;
/** Ids that places in the tree give. */
const PLACE_ID = /^b\d/;
export const LINK_RELS: ReadonlySet<string> = new Set(
  'canonical alternate icon apple-touch-icon manifest next prev preconnect dns-prefetch author'.split(' '),
);

const PAGE_KEYS = keys('id document data status boxes');
const NODE_KEYS = keys('component version id props slots if each data required rendering hydration');
const DOCUMENT_KEYS = keys('lang dir title meta links');
const LINK_KEYS = keys('rel href hreflang type sizes media');
const UPSTREAM_KEYS = keys('url path query timeoutMs default');
const FUNCTION_KEYS = keys('source args timeoutMs default');

/** Trees of code are the same objects at each request. */
const checked = new WeakSet<object>();

/** Throws `InvalidTree`. A tree that passed is not checked again, so it must not be changed afterwards. */
export function checkTree(tree: unknown): asserts tree is PageTree {
  if (typeof tree === 'object' && tree !== null && checked.has(tree)) return;
  new Check().page(tree);
  checked.add(tree as object);
}

class Check {
  #nodes = 0;
  readonly #ids = new Set<string>();

  page(tree: unknown): void {
    const page = object(tree, 'tree', PAGE_KEYS);
    if (page['id'] !== undefined && !(isText(page['id'], 64) && PAGE_ID.test(page['id'])))
      throw new InvalidTree('id', 'is not up to 64 letters, digits, `_`, `.`, `-` and `/`');
    if (page['status'] !== undefined && !isWhole(page['status'], 200, 599))
      throw new InvalidTree('status', 'is not a number from 200 to 599');
    if (page['document'] !== undefined) documentTree(page['document']);
    if (page['data'] !== undefined) sources(page['data'], 'data');
    this.#list(page['boxes'], 'boxes', 1);
  }

  #list(list: unknown, at: string, depth: number): void {
    if (!Array.isArray(list)) throw new InvalidTree(at, 'is not an array');
    if (depth > DEPTH_MAX) throw new InvalidTree(at, `is more than ${DEPTH_MAX} slots deep`);
    for (const [index, node] of list.entries()) this.#node(node, `${at}[${index}]`, depth);
  }

  #node(value: unknown, at: string, depth: number): void {
    this.#nodes += 1;
    if (this.#nodes > NODES_MAX) throw new InvalidTree(at, `is one node more than ${NODES_MAX}`);
    const node = object(value, at, NODE_KEYS);
    name(node['component'], `${at}.component`);
    if (node['version'] !== undefined) name(node['version'], `${at}.version`);
    this.#id(node['id'], at);
    if (node['props'] !== undefined) bound(object(node['props'], `${at}.props`), `${at}.props`);
    if (node['if'] !== undefined) condition(node['if'], `${at}.if`, 0);
    if (node['each'] !== undefined) path(node['each'], `${at}.each`);
    if (node['data'] !== undefined) sources(node['data'], `${at}.data`);
    oneOf(node['required'], [true, false], `${at}.required`);
    oneOf(node['rendering'], ['server', 'client', 'static'], `${at}.rendering`);
    hydration(node['hydration'], `${at}.hydration`);
    if (node['slots'] === undefined) return;
    for (const [slot, list] of Object.entries(object(node['slots'], `${at}.slots`))) {
      if (!SLOT.test(slot))
        throw new InvalidTree(`${at}.slots`, 'has a name with more than letters, digits, `_` and `-`');
      this.#list(list, `${at}.slots.${slot}`, depth + 1);
    }
  }

  #id(id: unknown, at: string): void {
    if (id === undefined) return;
    if (!isText(id, 64) || !BOX_ID.test(id) || PLACE_ID.test(id))
      throw new InvalidTree(
        `${at}.id`,
        'is not a letter and up to 63 letters, digits and `_`, or is like `b7`',
      );
    if (this.#ids.has(id)) throw new InvalidTree(`${at}.id`, `${id} is there twice`);
    this.#ids.add(id);
  }
}

function documentTree(value: unknown): void {
  const document = object(value, 'document', DOCUMENT_KEYS);
  oneOf(document['dir'], ['ltr', 'rtl', 'auto'], 'document.dir');
  for (const key of ['lang', 'title']) {
    if (document[key] !== undefined) bound(document[key], `document.${key}`);
  }
  for (const [index, value] of list(document['meta'], 'document.meta').entries()) {
    const at = `document.meta[${index}]`;
    const key = isObject(value) && Object.hasOwn(value, 'property') ? 'property' : 'name';
    const meta = object(value, at, new Set([key, 'content']));
    name(meta[key], `${at}.${key}`);
    bound(meta['content'], `${at}.content`);
  }
  for (const [index, value] of list(document['links'], 'document.links').entries()) {
    const at = `document.links[${index}]`;
    const link = object(value, at, LINK_KEYS);
    if (typeof link['rel'] !== 'string' || !LINK_RELS.has(link['rel']))
      throw new InvalidTree(`${at}.rel`, `is none of ${[...LINK_RELS].join(', ')}`);
    bound(link['href'], `${at}.href`);
    for (const key of ['hreflang', 'type', 'sizes', 'media']) {
      if (link[key] !== undefined) name(link[key], `${at}.${key}`);
    }
  }
}

function sources(value: unknown, at: string): void {
  const named = Object.entries(object(value, at));
  if (named.length > SOURCES_MAX) throw new InvalidTree(at, `has more than ${SOURCES_MAX} sources`);
  for (const [key, source] of named) {
    const place = `${at}.${key}`;
    name(key, place);
    const isUpstream = isObject(source) && Object.hasOwn(source, 'url');
    const given = object(source, place, isUpstream ? UPSTREAM_KEYS : FUNCTION_KEYS);
    if (given['timeoutMs'] !== undefined && !isWhole(given['timeoutMs'], 1, TIMEOUT_MS_MAX))
      throw new InvalidTree(`${place}.timeoutMs`, `is not a number from 1 to ${TIMEOUT_MS_MAX}`);
    if (!isUpstream) {
      name(given['source'], `${place}.source`);
      if (given['args'] !== undefined) bound(given['args'], `${place}.args`);
      continue;
    }
    const { url } = given;
    if (!isText(url, URL_CHARACTERS_MAX) || !/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new InvalidTree(`${place}.url`, 'is no http or https URL');
    if (given['path'] !== undefined) bound(list(given['path'], `${place}.path`), `${place}.path`);
    if (given['query'] !== undefined) bound(object(given['query'], `${place}.query`), `${place}.query`);
  }
}

function condition(value: unknown, at: string, depth: number): void {
  if (depth > VALUE_DEPTH_MAX) throw new InvalidTree(at, `is more than ${VALUE_DEPTH_MAX} conditions deep`);
  const given = object(value, at);
  const [kind, ...others] = Object.keys(given);
  const inner: unknown = kind === undefined ? undefined : given[kind];
  if (others.length > 0) throw new InvalidTree(at, 'has more than one key: use `all` or `any`');
  switch (kind ?? '') {
    case 'exists':
      path(inner, `${at}.exists`);
      return;
    case 'equals':
      if (list(inner, `${at}.equals`).length !== 2)
        throw new InvalidTree(`${at}.equals`, 'is not two values');
      bound(inner, `${at}.equals`);
      return;
    case 'not':
      condition(inner, `${at}.not`, depth + 1);
      return;
    case 'any':
    case 'all':
      if (!Array.isArray(inner)) throw new InvalidTree(`${at}.${kind}`, 'is not an array');
      for (const [index, each] of inner.entries()) condition(each, `${at}.${kind}[${index}]`, depth + 1);
      return;
    default:
      throw new InvalidTree(at, 'is not `exists`, `equals`, `not`, `any` or `all`');
  }
}

/** Values with bindings. What is neither JSON nor a binding may come from code, and is for the state to refuse. */
function bound(value: unknown, at: string, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > VALUE_DEPTH_MAX) throw new InvalidTree(at, `is more than ${VALUE_DEPTH_MAX} values deep`);
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) bound(element, `${at}[${index}]`, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  if (isBinding(value)) {
    path(value.$path, `${at}.$path`);
    for (const key of Object.keys(value)) {
      if (key !== '$path' && key !== 'default')
        throw new InvalidTree(`${at}.${key}`, 'is not known beside `$path`');
    }
    return;
  }
  for (const key of Object.keys(value)) bound(value[key], `${at}.${key}`, depth + 1);
}

function path(value: unknown, at: string): void {
  if (typeof value !== 'string' || pathOf(value) === undefined)
    throw new InvalidTree(at, 'is not a path such as `$.product.title` or `@.images[0]`');
}

function name(value: unknown, at: string): void {
  if (!isText(value, NAME_CHARACTERS_MAX) || value === '')
    throw new InvalidTree(at, `is no text of 1 to ${NAME_CHARACTERS_MAX} characters`);
}

function hydration(value: unknown, at: string): void {
  if (!isText(value, NAME_CHARACTERS_MAX) || !MEDIA.test(value)) oneOf(value, HYDRATIONS, at);
}

function oneOf(value: unknown, values: readonly unknown[], at: string): void {
  if (value !== undefined && !values.includes(value))
    throw new InvalidTree(at, `is none of ${values.join(', ')}`);
}

function list(value: unknown, at: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new InvalidTree(at, 'is not an array');
  return value;
}

function object(value: unknown, at: string, known?: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new InvalidTree(at, 'is not an object');
  if (known === undefined) return value;
  for (const key of Object.keys(value)) {
    if (!known.has(key)) throw new InvalidTree(`${at}.${key}`, 'is not known');
  }
  return value;
}

function keys(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
