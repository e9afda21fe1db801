/** Viewer of the living room: what they have watched, in a cookie, since the next request may reach another process. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Numbers of products, latest first. */
export interface Viewer {
  watched: readonly number[];
}

const NAME = 'watched';
const WATCHED_MAX = 12;

/** Viewer of a request. Products watched during the request go into a cookie of the response. */
export function viewerOf(request: IncomingMessage, response: ServerResponse): Viewer {
  let watched = watchedOf(request.headers.cookie);
  return {
    get watched() {
      return watched;
    },
    set watched(ids) {
      watched = ids.slice(0, WATCHED_MAX);
      const value = watched.join('.');
      response.setHeader('set-cookie', `${NAME}=${value}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax`);
    },
  };
}

/** Viewer that no cookie remembers: a device that keeps none, a test. */
export function guest(watched: readonly number[] = []): Viewer {
  return { watched };
}

function watchedOf(cookie = ''): readonly number[] {
  const value = /(?:^|;\s*)watched=([\d.]*)/.exec(cookie)?.[1] ?? '';
  const ids = value.split('.').filter((text) => /^[1-9]\d{0,5}$/.test(text));
  return [...new Set(ids.map(Number))].slice(0, WATCHED_MAX);
}
