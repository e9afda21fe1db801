/** Client of `server.ts`, in a process of its own: asks for pages one after the other, over one connection. */

import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

process.on('message', ({ port, count }: { port: number; count: number }) => {
  void (async () => {
    let bytes = 0;
    for (let asked = 0; asked < count; asked += 1) bytes += await ask(port);
    process.send?.({ bytes });
  })();
});

function ask(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, host: '127.0.0.1', agent }, (response) => {
      let bytes = 0;
      if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
      return undefined;
    });
    request.on('error', reject);
  });
}
