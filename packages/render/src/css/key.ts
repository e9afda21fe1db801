/**
 * Names of sets of styles. A name says which components are in the set and what their styles' content is. It carries a
 * code that only this app can make, so that nobody can have other sets built. It must not know files.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const ID_BYTES = 4;
const CONTENT_BYTES = 6;
const CODE_BYTES = 9;
/** Bounds components of one set, and with it the length of a URL. */
export const SET_MAX = 500;
const TEXT = /^[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{12}$/;

export interface SetKey {
  /** Ids of components, ascending. */
  readonly ids: readonly number[];
  /** Hash of the content of all styles. */
  readonly content: string;
}

/**
 * A component's number in keys. It depends on its name and version alone, so that a key can be read by every build that
 * has the component. Two that share one are taken together.
 */
export function idOf(component: string): number {
  return createHash('sha256').update(component).digest().readUInt32BE(0);
}

/** Returns a hash of the files' hashes in their order. */
export function contentOf(hashes: readonly string[]): string {
  const hash = createHash('sha256');
  for (const each of hashes) hash.update(each).update('\n');
  return hash.digest().subarray(0, CONTENT_BYTES).toString('base64url');
}

export function writeKey({ ids, content }: SetKey, secret: string): string {
  const bytes = Buffer.alloc(ids.length * ID_BYTES);
  for (const [index, id] of ids.entries()) bytes.writeUInt32BE(id, index * ID_BYTES);
  const said = `${bytes.toString('base64url')}.${content}`;
  return `${said}.${codeOf(said, secret).toString('base64url')}`;
}

/** Undefined for a text that `writeKey` has not made with this secret. */
export function readKey(text: string, secret: string): SetKey | undefined {
  if (text.length > Math.ceil((SET_MAX * ID_BYTES * 4) / 3) + 32 || !TEXT.test(text)) return undefined;
  const [list = '', content = '', code = ''] = text.split('.');
  const given = Buffer.from(code, 'base64url');
  if (!timingSafeEqual(given, codeOf(`${list}.${content}`, secret))) return undefined;
  const bytes = Buffer.from(list, 'base64url');
  const ids: number[] = [];
  for (let at = 0; at + ID_BYTES <= bytes.length; at += ID_BYTES) ids.push(bytes.readUInt32BE(at));
  return { ids, content };
}

function codeOf(said: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(said).digest().subarray(0, CODE_BYTES);
}
