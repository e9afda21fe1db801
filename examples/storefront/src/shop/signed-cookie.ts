/**
 * Values that travel in the browser and cannot be changed there: payload and HMAC-SHA256, both base64url. The cart
 * lives in one, because the next request may reach another worker, which has no memory of this one.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';

export function seal(name: string, value: string, secret: string): string {
  const payload = Buffer.from(value, 'utf8').toString('base64url');
  return `${payload}.${signature(name, payload, secret)}`;
}

/** The value, or null if it was not sealed under this name with this secret. */
export function unseal(name: string, sealed: string | undefined, secret: string): string | null {
  const [payload, given, ...rest] = (sealed ?? '').split('.');
  if (payload === undefined || given === undefined || rest.length > 0) return null;
  const expected = Buffer.from(signature(name, payload, secret));
  const actual = Buffer.from(given);
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return null;
  return Buffer.from(payload, 'base64url').toString('utf8');
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

function signature(name: string, payload: string, secret: string): string {
  return createHmac('sha256', secret).update(`${name}.${payload}`).digest('base64url');
}
