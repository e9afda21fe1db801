// A service with a component of its own, by the fragment protocol: it answers with the secret that the request's cookie has.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Job {
  readonly name: string;
  readonly data: { readonly item: number };
}

export interface Service {
  readonly url: string;
  readonly requests: () => number;
  close(): void;
}

/** Items whose component throws, and those for which the connection is cut. */
const THROWS = 7;
const CUTS = 11;

export async function startService(): Promise<Service> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const secret = String(request.headers.cookie).replace('session=', '');
    void text(request).then((body) => {
      const jobs = Object.entries(JSON.parse(body) as Record<string, Job>);
      if (jobs.some(([, { data }]) => data.item === CUTS)) {
        response.destroy();
        return;
      }
      const results = jobs.map(([token, { data }]) => [
        token,
        data.item === THROWS
          ? { success: false, error: { name: 'Error', message: `no ${data.item} for ${secret}`, stack: [] } }
          : { success: true, html: `<p>${data.item} of ${secret}</p>` },
      ]);
      response.end(JSON.stringify({ success: true, error: null, results: Object.fromEntries(results) }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/batch`,
    requests: () => requests,
    close: () => server.close(),
  };
}
