/** Falcor's HTTP protocol, read: `method=get&paths=…` in the query, and forms or JSON with `set` and `call`. It must not know servers. */
import { parse as parseContentType } from 'content-type';
import type { Envelope, Path, PathSet } from '../types.js';
import { routeError } from '../router/errors.js';
import type { Incoming } from './exchange.js';

/** Parameters of a request by name: text of JSON, or the values themselves. */
export type Requested = Readonly<Record<string, unknown>>;

export type GraphRequest =
  | { readonly method: 'get'; readonly paths: readonly PathSet[] }
  | { readonly method: 'set'; readonly envelope: Envelope }
  | {
      readonly method: 'call';
      readonly path: Path;
      readonly args: readonly unknown[];
      readonly refSuffixes: readonly PathSet[];
      readonly thisPaths: readonly PathSet[];
    };

/** Throws where bytes are no UTF-8, instead of changing them. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Rejects with a `RouteError` where the request is none of the protocol. Paths and values are checked by the router. */
export async function readRequest(request: Incoming, bytesMax: number): Promise<GraphRequest> {
  if (request.method === 'GET' || request.method === 'HEAD') {
    const asked = graphRequest(ofQuery(request.url));
    // Requests that change data have a body: links and images of other sites make GETs.
    if (asked.method !== 'get') throw routeError('SLU-GRAPH-METHOD', `${asked.method} is sent by POST`);
    return asked;
  }
  if (request.method !== 'POST')
    throw routeError('SLU-GRAPH-METHOD', `${request.method} is not GET, HEAD or POST`);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw routeError('SLU-GRAPH-BODY-TYPE', 'Bodies must be sent without content-encoding');
  const type = typeOf(request.headers['content-type'] ?? '');
  const body = await request.body(bytesMax);
  return graphRequest(body instanceof Uint8Array ? parsed(body, type) : body);
}

function ofQuery(url: string): Requested {
  const start = url.indexOf('?');
  return ofForm(start === -1 ? '' : url.slice(start + 1));
}

/** The first value of each name. */
function ofForm(text: string): Requested {
  const parameters = new URLSearchParams(text);
  const requested: Record<string, unknown> = {};
  for (const name of NAMES) requested[name] = parameters.get(name) ?? undefined;
  return requested;
}

const NAMES = ['method', 'paths', 'jsonGraph', 'callPath', 'arguments', 'pathSuffixes'] as const;

type BodyType = 'form' | 'json';

function typeOf(header: string): BodyType {
  let type = '';
  let charset = 'utf-8';
  try {
    const { type: name, parameters } = parseContentType(header);
    type = name;
    charset = parameters['charset'] ?? charset;
  } catch {
    // Refused below.
  }
  const isUtf8 = /^(?:utf-?8|us-ascii)$/i.test(charset);
  if (isUtf8 && type === 'application/x-www-form-urlencoded') return 'form';
  if (isUtf8 && type === 'application/json') return 'json';
  throw routeError('SLU-GRAPH-BODY-TYPE', 'The body is not a form or JSON in UTF-8');
}

function parsed(bytes: Uint8Array, type: BodyType): Requested {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch (error) {
    throw routeError('SLU-GRAPH-BODY', 'The body is not UTF-8', { cause: error });
  }
  if (type === 'form') return ofForm(text);
  const value = jsonOf('body', text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw routeError('SLU-GRAPH-INVALID', 'The body is not an object');
  return value as Requested;
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw routeError('SLU-GRAPH-INVALID', `${name} is no JSON`, { cause: error });
  }
}

function graphRequest(requested: Requested): GraphRequest {
  const { method } = requested;
  switch (method) {
    case 'get':
      return { method, paths: listOf(requested, 'paths') as readonly PathSet[] };
    case 'set': {
      const envelope = valueOf(requested, 'jsonGraph');
      if (typeof envelope !== 'object' || envelope === null)
        throw routeError('SLU-GRAPH-INVALID', 'jsonGraph is not an object');
      return { method, envelope: envelope as Envelope };
    }
    case 'call':
      return {
        method,
        path: listOf(requested, 'callPath') as Path,
        args: listOf(requested, 'arguments', []),
        refSuffixes: listOf(requested, 'pathSuffixes', []) as readonly PathSet[],
        thisPaths: listOf(requested, 'paths', []) as readonly PathSet[],
      };
    default:
      throw routeError('SLU-GRAPH-INVALID', 'method is not get, set or call');
  }
}

/** Texts are JSON; a body of JSON may have the values themselves. */
function valueOf(requested: Requested, name: (typeof NAMES)[number]): unknown {
  const value = Object.hasOwn(requested, name) ? requested[name] : undefined;
  return typeof value === 'string' ? jsonOf(name, value) : value;
}

function listOf(
  requested: Requested,
  name: (typeof NAMES)[number],
  fallback?: readonly unknown[],
): readonly unknown[] {
  const value = valueOf(requested, name) ?? fallback;
  if (!Array.isArray(value)) throw routeError('SLU-GRAPH-INVALID', `${name} is no list`);
  return value as readonly unknown[];
}
