/** Fields of a posted page beside its tree: checked, with the place of the mistake. It must not know HTTP servers. */
import type { Device, Visitor } from '../dial/visitor.js';
import { httpError, type HttpError } from '../http/errors.js';
import { isNonce } from '../boxes/head.js';
import { DATA_DEPTH_MAX, tameData } from './json-data.js';
import type { RenderOptions } from './options.js';
import { isObject, isText, isWhole } from './shapes.js';
import { checkTree, InvalidTree } from './check.js';
import type { PageTree } from './tree.js';

export interface Posted extends RenderOptions {
  readonly tree: PageTree;
  readonly data: Readonly<Record<string, unknown>>;
}

const KEYS: ReadonlySet<string> = new Set(
  'tree data format engine delivery fill visitor variants more nonce deadlineMs'.split(' '),
);
const ENGINE_MAX = 1_000_000;
const DEADLINE_MS_MAX = 60_000;
const TEXT_CHARACTERS_MAX = 2_048;

/** Throws `HttpError` of status 400. */
export function readPosted(body: unknown): Posted {
  if (!isObject(body)) throw httpError('SLU-RENDER-TREE-INVALID', 'The body is not an object with a `tree`');
  for (const key of Object.keys(body)) if (!KEYS.has(key)) throw mistake(key, 'is not known');
  const { tree, data = {}, engine, deadlineMs, visitor, variants } = body;
  const nonce = text(body, 'nonce');
  try {
    checkTree(tree);
  } catch (error) {
    if (error instanceof InvalidTree)
      throw httpError('SLU-RENDER-TREE-INVALID', error.message, { cause: error });
    throw error;
  }
  if (!isObject(data)) throw mistake('data', 'is not an object');
  if (!tameData(data)) throw mistake('data', `is nested more than ${DATA_DEPTH_MAX} deep`);
  if (engine !== undefined && !isWhole(engine, 0, ENGINE_MAX)) throw mistake('engine', 'is no whole number');
  if (deadlineMs !== undefined && !isWhole(deadlineMs, 1, DEADLINE_MS_MAX))
    throw mistake('deadlineMs', `is not a whole number from 1 to ${DEADLINE_MS_MAX}`);
  if (nonce !== undefined && !isNonce(nonce)) throw mistake('nonce', 'is no base64 of at least 8 characters');
  return {
    tree,
    data,
    ...defined('engine', engine),
    ...defined('deadlineMs', deadlineMs),
    ...defined('format', oneOf(body, 'format', ['html', 'json', 'boxes'] as const)),
    ...defined('delivery', oneOf(body, 'delivery', ['stream', 'whole'] as const)),
    ...defined('fill', oneOf(body, 'fill', ['in-order', 'as-ready'] as const)),
    ...defined('more', text(body, 'more')),
    ...defined('nonce', nonce),
    ...defined('visitor', visitor === undefined ? undefined : visitorIn(visitor)),
    ...defined('variants', variants === undefined ? undefined : texts(variants, 'variants')),
  };
}

function visitorIn(value: unknown): Partial<Visitor> {
  if (!isObject(value)) throw mistake('visitor', 'is not an object');
  const device: Device | undefined = oneOf(value, 'device', ['mobile', 'desktop', 'bot'] as const);
  const { cookies } = value;
  return {
    ...defined('id', text(value, 'id')),
    ...defined('device', device),
    ...defined('cookies', cookies === undefined ? undefined : texts(cookies, 'visitor.cookies')),
  };
}

function texts(value: unknown, at: string): Readonly<Record<string, string>> {
  if (!isObject(value)) throw mistake(at, 'is not an object');
  // One without a prototype, as its keys are anybody's.
  const found = Object.create(null) as Record<string, string>;
  for (const key of Object.keys(value)) {
    const each = value[key];
    if (!isText(each, TEXT_CHARACTERS_MAX)) throw mistake(`${at}.${key}`, 'is no text');
    found[key] = each;
  }
  return found;
}

function text(value: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const found = value[key];
  if (found !== undefined && !isText(found, TEXT_CHARACTERS_MAX)) throw mistake(key, 'is no text');
  return found;
}

function oneOf<const T extends string>(
  value: Readonly<Record<string, unknown>>,
  key: string,
  choices: readonly T[],
): T | undefined {
  const found = value[key];
  if (found === undefined) return undefined;
  const choice = choices.find((each) => each === found);
  if (choice === undefined) throw mistake(key, `is none of ${choices.join(', ')}`);
  return choice;
}

function defined<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V });
}

function mistake(at: string, message: string): HttpError {
  return httpError('SLU-RENDER-TREE-INVALID', `${at}: ${message}`);
}
