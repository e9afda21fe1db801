/** Headers of pages: checked before anything is sent, and honest to caches. It must not know how pages are rendered. */
import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Names in any case. */
export type HeaderOptions = Readonly<Record<string, string | readonly string[]>>;
/** Names in lower case. */
export type Headers = Record<string, string | readonly string[]>;

/** RFC 9213 and its relatives of single caches, such as `Cloudflare-CDN-Cache-Control`. */
const FOR_SHARED_CACHES = /(?:^|-)cdn-cache-control$|^surrogate-control$|^x-accel-expires$/;

/** Throws a `TypeError` for a name or a value that HTTP does not allow, such as one with a line break. */
export function checkedHeaders(options: HeaderOptions): Headers {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(options)) {
    validateHeaderName(name);
    for (const each of typeof value === 'string' ? [value] : value) validateHeaderValue(name, each);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The page is one visitor's: no shared cache may have it. What the app said for browsers alone stays. */
export function makePrivate(headers: Headers): void {
  // Shared caches obey these before `Cache-Control`.
  for (const name of Object.keys(headers)) if (FOR_SHARED_CACHES.test(name)) delete headers[name];
  const said = String(headers['cache-control'] ?? '');
  // `private="set-cookie"` keeps a field private, and not the page.
  if (/\bprivate\b(?!\s*=)|\bno-store\b/i.test(said)) return;
  headers['cache-control'] = 'private, no-cache';
  delete headers['expires'];
}

/** Marks a page in which something is missing: nobody is to have it again. */
export function makeTransient(headers: Headers): void {
  headers['cache-control'] = 'no-store';
  for (const name of Object.keys(headers)) if (FOR_SHARED_CACHES.test(name)) delete headers[name];
  for (const name of ['expires', 'etag', 'last-modified']) delete headers[name];
}

export function addVary(headers: Headers, fields: readonly string[]): void {
  const there = [headers['vary'] ?? []]
    .flat()
    .flatMap((value) => value.split(',').map((field) => field.trim()));
  const known = new Set(there.map((field) => field.toLowerCase()));
  if (known.has('*')) return;
  const all = [
    ...there.filter((field) => field !== ''),
    ...fields.filter((field) => !known.has(field.toLowerCase())),
  ];
  headers['vary'] = all.join(', ');
}
