/**
 * `useActionState`: a form that may be posted before the page has come to life carries a key, by which the state that the post led to finds its
 * component again.
 */
import { createHash } from 'node:crypto';
import { toText } from '../facts/escape.js';
import type { HookHost } from '../state/running.js';

interface FormFields {
  action?: unknown;
  data?: FormData | null;
}

export type ServerAction = ((...args: unknown[]) => unknown) & {
  $$FORM_ACTION?: (prefix: string) => FormFields;
  $$IS_SIGNATURE_EQUAL?: (referenceId: unknown, boundCount: unknown) => boolean;
};

export interface ActionState {
  readonly value: unknown;
  readonly dispatch: unknown;
  /** Whether the posted form is this component's. */
  readonly matches: boolean;
}

export function actionState(
  host: HookHost,
  action: ServerAction,
  initialState: unknown,
  permalink: string | undefined,
  index: number,
): ActionState {
  if (typeof action.$$FORM_ACTION !== 'function') {
    const bound = action.bind(null, initialState);
    return { value: initialState, dispatch: (payload: unknown) => void bound(payload), matches: false };
  }
  const path = host.currentKeyPath();
  let key: string | null = null;
  const postbackKey = (): string =>
    (key ??= createPostbackKey(permalink, path, index, host.mode !== 'stream'));
  let value = initialState;
  let matches = false;
  const { formState } = host;
  if (formState !== null && typeof action.$$IS_SIGNATURE_EQUAL === 'function') {
    const isSameAction = action.$$IS_SIGNATURE_EQUAL(formState[2], formState[3]);
    if (isSameAction && formState[1] === postbackKey()) {
      matches = true;
      [value] = formState;
    }
  }
  const bound = action.bind(null, value) as ServerAction;
  const dispatch = ((payload: unknown) => void bound(payload)) as ServerAction;
  if (typeof bound.$$FORM_ACTION === 'function') {
    const formAction: ServerAction['$$FORM_ACTION'] = (prefix) => {
      const fields = (bound.$$FORM_ACTION as NonNullable<ServerAction['$$FORM_ACTION']>)(prefix);
      if (permalink !== undefined) fields.action = toText(permalink);
      if (fields.data) fields.data.append('$ACTION_KEY', postbackKey());
      return fields;
    };
    dispatch.$$FORM_ACTION = formAction;
  }
  return { value, dispatch, matches };
}

/** `short`: react-dom's string renderer also runs where there is no cryptography, and uses another hash. */
function createPostbackKey(
  permalink: string | undefined,
  keyPath: unknown,
  hookIndex: number,
  short: boolean,
): string {
  if (permalink !== undefined) return `p${permalink}`;
  const path = JSON.stringify([keyPath, null, hookIndex]);
  if (short) return `k${murmur3(path)}`;
  return `k${createHash('md5').update(path).digest('hex')}`;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** MurmurHash3, 32 bits, seed 0, of the low bytes of the UTF-16 units. */
function murmur3(text: string): number {
  const byte = (at: number): number => text.charCodeAt(at) & 0xff;
  const whole = text.length - (text.length % 4);
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scramble(byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = text.length - 1; at >= whole; at -= 1) rest = (rest << 8) | byte(at);
  if (whole < text.length) hash ^= scramble(rest);
  hash ^= text.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
