/**
 * One request of the Hypernova protocol to another service: jobs there, HTML back. Its limits are its caller's, but for the
 * size of the answer. It must not know pages or when the service is left alone.
 */
import { toError } from '../thrown.js';
import { boundedText } from './body.js';
import { RemoteError } from './errors.js';

export interface RemoteJob {
  readonly name: string;
  /** The job in the body of the request. */
  readonly json: string;
}

/** Throws for props that are no JSON, such as a BigInt: the request may have jobs of other pages. */
export function jobOf(name: string, props: unknown): RemoteJob {
  return { name, json: JSON.stringify({ name, data: props }) };
}

/** `isPartial`: the service says that a part of the HTML has failed. */
export type JobResult =
  { readonly html: string; readonly isPartial: boolean } | { readonly error: RemoteError };

/** HTTP status after which the same request may do better elsewhere, or soon. */
const AGAIN: ReadonlySet<number> = new Set([502, 503, 504]);

/** The service as a whole has failed. */
export class ServiceError extends RemoteError {
  readonly mayRetry: boolean;

  constructor(message: string, mayRetry: boolean, options?: ErrorOptions) {
    super('error', message, options);
    this.mayRetry = mayRetry;
  }
}

/** Results in the order of the jobs. Rejects with `ServiceError` where none of them has one. */
export async function askBatch(
  url: URL,
  jobs: readonly RemoteJob[],
  headers: Readonly<Record<string, string>>,
  bytes_max: number,
  signal: AbortSignal,
): Promise<readonly JobResult[]> {
  const body = `{${jobs.map(({ json }, index) => `"j${index}":${json}`).join(',')}}`;
  const response = await send(url, body, headers, signal);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new ServiceError(`${url.host} answered ${response.status}`, AGAIN.has(response.status));
  }
  let answer: unknown;
  try {
    answer = JSON.parse(await boundedText(response, bytes_max));
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ServiceError(`${url.host} sent an incomplete answer: ${messageOf(error)}`, false, {
      cause: error,
    });
  }
  const results = field(answer, 'results');
  if (typeof results !== 'object' || results === null)
    throw new ServiceError(`${url.host} sent no results`, false);
  return jobs.map(({ name }, index) => resultOf(name, field(results, `j${index}`)));
}

async function send(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { ...headers, accept: 'application/json', 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ServiceError(`${url.host} cannot be reached: ${messageOf(error)}`, true, { cause: error });
  }
}

/** Empty HTML is a success: some components have nothing to show. */
function resultOf(name: string, result: unknown): JobResult {
  const html = field(result, 'html');
  if (field(result, 'success') === true && typeof html === 'string')
    return { html, isPartial: field(result, 'partial') === true };
  const message = field(field(result, 'error'), 'message');
  return {
    error: new RemoteError(
      'error',
      `${name}: ${typeof message === 'string' ? message : 'no HTML in the answer'}`,
    ),
  };
}

function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

function messageOf(thrown: unknown): string {
  const { cause, message } = toError(thrown);
  // What fetch could not do is in its cause.
  return cause === undefined || cause === null ? message : toError(cause).message;
}
