/** Origins whose pages may change data. It must not know graphs. */
import type { WireRequest } from './exchange.js';

/** Decides about an origin, such as `https://admin.example`, and `null` for pages that have none. */
export type OriginCheck = boolean | ((origin: string) => boolean);

/**
 * Whether a request comes from a page of another origin that is not allowed. Browsers say so by `Sec-Fetch-Site`; where that is absent, as in
 * old ones and without TLS, the host of `Origin` must be that of the request. Clients that are no browsers send neither.
 */
export function isForeign({ headers, raw }: WireRequest, isAllowed: OriginCheck): boolean {
  if (isAllowed === true) return false;
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site === undefined) {
    if (origin === undefined) return false;
    // Adapters of Fetch may leave the header out.
    if (isHost(origin, host ?? (raw instanceof Request ? new URL(raw.url).host : ''))) return false;
  }
  return isAllowed === false || origin === undefined || !isAllowed(origin);
}

/** Whether this is the host of the origin, both without the default port. */
function isHost(origin: string, host: string): boolean {
  try {
    const url = new URL(origin);
    return url.host === new URL(`${url.protocol}//${host}`).host;
  } catch {
    return false;
  }
}
