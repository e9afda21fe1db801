/**
 * Visitor in the view of shares: a stable identity and a kind of device. It must not know shares, experiments or pages.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export type Device = 'mobile' | 'desktop' | 'bot';

export interface Visitor {
  /** Identity, the same at each visit if the request tells it. It is hashed, and never sent or logged. */
  readonly id: string;
  readonly device: Device;
  /** Values of the cookies that experiments are by. */
  readonly cookies: Readonly<Record<string, string>>;
}

export interface VisitorOptions {
  /**
   * Cookie whose value distinguishes visitors, such as the session's. Without it, or for a visitor who has none, address
   * and User-Agent do: the same browser at another address is another visitor then.
   */
  readonly cookie?: string;
  /** Gives visitors without the cookie a random one for a year. Default: false, as laws may ask for consent. */
  readonly setsCookie?: boolean;
}

/** Lower case, as it is found in the User-Agents of crawlers, previews and monitors. */
const BOT =
  /bot\b|bot[/;]|crawl|spider|slurp|facebookexternalhit|mediapartners|lighthouse|headlesschrome|preview/;
const MOBILE = /mobi|android|iphone|ipad|ipod/;
const YEAR_S = 31_536_000;
const COOKIES_BYTES_MAX = 16_384;

/**
 * Finds the device by `Sec-CH-UA-Mobile` if the browser sends it, else by `User-Agent`. Bots are told by their name
 * alone.
 */
export function deviceOf(headers: IncomingHttpHeaders): Device {
  const agent = (headers['user-agent'] ?? '').toLowerCase();
  if (BOT.test(agent)) return 'bot';
  const hint = headers['sec-ch-ua-mobile'];
  if (hint === '?1') return 'mobile';
  if (hint === '?0') return 'desktop';
  return MOBILE.test(agent) ? 'mobile' : 'desktop';
}

/** The visitor of a browser's request, and the `Set-Cookie` that makes the next visit recognisable. */
export function visitorOf(
  request: IncomingMessage,
  { cookie, setsCookie = false }: VisitorOptions = {},
): { visitor: Visitor; setCookie: string | undefined } {
  const cookies = cookiesOf(request.headers.cookie);
  const device = deviceOf(request.headers);
  const known = cookie === undefined ? undefined : cookies[cookie];
  if (known !== undefined && known !== '')
    return { visitor: { id: known, device, cookies }, setCookie: undefined };
  if (cookie === undefined || !setsCookie) {
    const id = `${request.socket.remoteAddress ?? ''} ${request.headers['user-agent'] ?? ''}`;
    return { visitor: { id, device, cookies }, setCookie: undefined };
  }
  const id = randomUUID();
  return {
    visitor: { id, device, cookies: { ...cookies, [cookie]: id } },
    setCookie: `${cookie}=${id}; Path=/; Max-Age=${YEAR_S}; HttpOnly; SameSite=Lax`,
  };
}

/** The first of each name wins, as in browsers' order the most specific path comes first (RFC 6265 §5.4). */
export function cookiesOf(header: string | undefined): Readonly<Record<string, string>> {
  const cookies = Object.create(null) as Record<string, string>;
  if (header === undefined || header.length > COOKIES_BYTES_MAX) return cookies;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 1) continue;
    const name = pair.slice(0, equals).trim();
    cookies[name] ??= pair.slice(equals + 1).trim();
  }
  return cookies;
}
