// nghttp2's load generator: HTTP/1.1 and HTTP/2, plain and over TLS, with the same connections for all that are compared.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { find } from '../lib/run.ts';

export interface Load {
  url: string;
  requests: number;
  connections: number;
  http2?: boolean;
  headers?: string[];
  /** New connections a second, each for its part of the requests. */
  connectionsPerS?: number;
}

export interface Loaded {
  requests: number;
  failed: number;
  seconds: number;
}

export async function h2load(load: Load): Promise<Loaded> {
  return startH2load(load).result;
}

export function startH2load(load: Load): { child: ChildProcess; result: Promise<Loaded> } {
  const { url, requests, connections, http2 = false, headers = [], connectionsPerS } = load;
  const args = [
    '-n',
    String(requests),
    '-c',
    String(connections),
    '-t',
    '1',
    ...(http2 ? ['-m', '10'] : ['--h1']),
    ...(connectionsPerS === undefined ? [] : ['-r', String(connectionsPerS)]),
    ...headers.flatMap((header) => ['-H', header]),
    url,
  ];
  const child = spawn(find('h2load', 'nghttp2-client'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const finish = async (): Promise<Loaded> => {
    await once(child, 'close');
    process.removeListener('exit', killAtExit);
    return read(text);
  };
  return { child, result: finish() };
}

function read(text: string): Loaded {
  const took = /finished in ([\d.]+)(us|ms|s)/.exec(text);
  const counts = /requests: (\d+) total, \d+ started, \d+ done, (\d+) succeeded/.exec(text);
  const ok = /status codes: (\d+) 2xx/.exec(text);
  if (took === null || counts === null || ok === null) throw new Error(`h2load said:\n${text}`);
  const unit = { us: 1e-6, ms: 1e-3, s: 1 }[took[2] ?? 's'] ?? 1;
  const total = Number(counts[1]);
  return { requests: total, failed: total - Number(ok[1]), seconds: Number(took[1]) * unit };
}
