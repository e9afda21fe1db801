/** Clock of a route's handler, if its framework shows its start: Express and Fastify. */
import type { IncomingMessage } from 'node:http';
import { now_ms } from '../timers.js';

const begunKey = Symbol('sluice.handler');

interface Handled extends IncomingMessage {
  [begunKey]?: number;
}

/** The request that the app was handed last, if nothing is asked of its handler's time. */
let unmeasured: IncomingMessage | undefined;

/** The app is handed a request. Only if it is measured is its handler's time asked for. */
export function handedToApp(request: IncomingMessage, isMeasured: boolean): void {
  unmeasured = isMeasured ? undefined : request;
}

/** The first handler of a request begins. */
export function handlerBegins(request: IncomingMessage): void {
  // A property more costs a request of a framework more than the rest of this.
  if (request === unmeasured) return;
  const handled = request as Handled;
  handled[begunKey] ??= now_ms();
}

/** Returns the time since then, microseconds. */
export function handled_us(request: IncomingMessage): number | undefined {
  const begun_ms = (request as Handled)[begunKey];
  return begun_ms === undefined ? undefined : Math.round((now_ms() - begun_ms) * 1000);
}
