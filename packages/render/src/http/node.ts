/** Answers over `node:http`: requests of IncomingMessage, and responses of ServerResponse. It must not know what handlers do. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Abort } from '../abort.js';
import { BODILESS, type Answer, type Answering } from './answer.js';

/** Answers the requests that are its own. Resolves to false, and leaves the response alone, for all others. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export function nodeHandler(answering: Answering): Handler {
  return async (request, response) => {
    const answer = await answering(request, { leave: () => leaving(response), response });
    if (answer === undefined) return false;
    await write(request, response, answer);
    await answer.sent?.();
    return true;
  };
}

/** Aborted when the client leaves before its answer was sent. */
export function leaving(response: ServerResponse): Abort {
  const abort = new Abort();
  const leave = (): void => {
    if (!response.writableFinished) abort.abort(new Error('The client has left'));
  };
  // It may have left while the app waited for something else.
  if (response.destroyed) leave();
  else response.once('close', leave);
  return abort;
}

/** Signal that aborts when the client leaves before its answer was sent. */
export function leaveSignal(response: ServerResponse): AbortSignal {
  return leaving(response).signal;
}

/** Sends an answer. A client who leaves ends its body, which is no error. */
export async function write(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  const { status, headers, body } = answer;
  if (response.headersSent || response.destroyed) {
    if (body instanceof Readable) body.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headers))
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  response.statusCode = status;
  const isBodiless = BODILESS.has(status);
  // Of these, 205 alone says so by its length (RFC 9110 §15.3.6).
  if (status === 205) response.setHeader('content-length', '0');
  else if (isBodiless) response.removeHeader('content-length');
  if (isBodiless || request.method === 'HEAD') {
    if (body instanceof Readable) body.destroy();
    response.end();
    return;
  }
  const whole = body instanceof Readable ? await body.whole?.() : body;
  if (whole !== undefined) {
    response.end(whole);
    return;
  }
  try {
    await pipeline(body as Readable, response);
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}
