// Kinds of work that a test or a benchmark asks for by path. Each handler's promise settles when its work is done and its
// response has ended or lost its reader, whichever is later: that is how long an app holds a request.
'use strict';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Burns CPU time of this process, not wall-clock time: a process that is kept off its core takes longer. */
function burnCpu(ms) {
  const start = process.cpuUsage();
  const amountUs = ms * 1000;
  let value = 1;
  for (;;) {
    for (let i = 0; i < 5000; i++) value = (value * 1103515245 + 12345) % 2147483648;
    const used = process.cpuUsage(start);
    if (used.user + used.system >= amountUs) return value;
  }
}

const number = (query, name, fallback) => Number(query.get(name) ?? fallback);

const routes = {
  '/': async (_query, _request, response) => {
    response.end('ok\n');
  },
  '/spin': async (query, _request, response) => {
    burnCpu(number(query, 'ms', process.env.SPIN_MS ?? 5));
    response.end('spun\n');
  },
  '/sleep': async (query, _request, response) => {
    await wait(number(query, 'ms', 50));
    response.end('slept\n');
  },
  '/big': async (query, _request, response) => {
    response.setHeader('content-type', 'application/octet-stream');
    response.end(Buffer.alloc(number(query, 'bytes', 1 << 20), 'x'));
  },
  '/stream': async (query, _request, response) => {
    const piece = 'x'.repeat(number(query, 'bytes', 1024));
    for (let left = number(query, 'chunks', 5); left > 0; left--) {
      response.write(piece);
      await wait(number(query, 'interval_ms', 10));
    }
    response.end();
  },
  '/upload': async (_query, request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    response.end(`${bytes}\n`);
  },
};

async function work(request, response) {
  const url = new URL(request.url, 'http://app');
  const loadId = request.headers['x-load-id'];
  if (loadId !== undefined) response.setHeader('x-load-id', loadId);
  const ended = new Promise((resolve) => {
    response.once('finish', resolve);
    response.once('close', resolve);
  });
  const route = routes[url.pathname];
  try {
    if (route) {
      await route(url.searchParams, request, response);
    } else {
      response.statusCode = 404;
      response.end('no such work\n');
    }
  } catch {
    // The reader left in the middle: nobody is there to answer.
    response.destroy();
  }
  await ended;
}

module.exports = { burnCpu, wait, work };
