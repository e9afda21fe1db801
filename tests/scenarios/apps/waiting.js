// Requests that wait for as long as the test wants: `/wait` until SIGUSR2, `/wait?spin=MS` after computing, `/page` and `/pid` at once, `/nested?depth=N` asks this app for the
// next, `/block` in a synchronous child.
const { spawnSync } = require('node:child_process');
const http = require('node:http');

const held = [];
process.on('SIGUSR2', () => held.splice(0).forEach((end) => end()));
http
  .createServer((request, response) => {
    const url = new URL(request.url, 'http://app');
    if (url.pathname === '/wait') {
      const computed = Date.now() + Number(url.searchParams.get('spin') ?? 0);
      while (Date.now() < computed);
      // On the heap, and not beside it; without garbage, which V8 keeps in a small heap for as long as it collects.
      const memory = Array.from({ length: Number(url.searchParams.get('kb') ?? 0) / 16 }, () =>
        Buffer.alloc(16_384, 'a').latin1Slice(),
      );
      return void held.push(() => response.end(`waited with ${memory.length}`));
    }
    if (url.pathname === '/pid') return response.end(String(process.pid));
    if (url.pathname === '/block') spawnSync('sleep', [url.searchParams.get('s')]);
    const depth = Number(url.searchParams.get('depth') ?? 0);
    if (depth === 0) return response.end('page');
    const asked = http.get(
      `http://${request.headers.host}/nested?depth=${depth - 1}`,
      { agent: false },
      (answer) => {
        response.statusCode = answer.statusCode;
        answer.pipe(response);
      },
    );
    return asked.on('error', (error) => response.writeHead(500).end(error.message));
  })
  .listen(process.env.PORT);
