// Requests that only wait: long polls, event streams, a slow upstream, jobs in a thread, an app that calls itself. Beside them
// ordinary pages of about half a millisecond. No framework.
'use strict';
const http = require('node:http');
const { setTimeout: pause } = require('node:timers/promises');
const { Worker } = require('node:worker_threads');

/** A page of the size and cost of a light one. */
function page() {
  const rows = [];
  for (let row = 0; row < 200; row += 1) rows.push(`<li>${Math.sqrt(row * 7919).toFixed(3)}</li>`);
  return `<!doctype html><ul>${rows.join('')}</ul>`;
}

let thread;
/** Jobs of one thread, one after the other. */
function job(ms) {
  thread ??= new Worker(
    `const { parentPort } = require('node:worker_threads');
     parentPort.on('message', ({ id, ms }) => {
       const until = performance.now() + ms;
       while (performance.now() < until);
       parentPort.postMessage(id);
     });`,
    { eval: true },
  ).setMaxListeners(0);
  const id = Math.random();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  thread.postMessage({ id, ms });
  return new Promise((resolve) => {
    const listener = (ended) => {
      if (ended !== id) return;
      thread.off('message', listener);
      resolve();
    };
    thread.on('message', listener);
  });
}

/** Asks this very app, through whatever stands before it. */
function ask(host, path) {
  return new Promise((resolve, reject) => {
    http
      .get(`http://${host}${path}`, { agent: false }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode));
      })
      .on('error', reject);
  });
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://app');
  const number = (name) => Number(url.searchParams.get(name) ?? 0);
  switch (url.pathname.split('/')[1]) {
    case 'poll': {
      // Memory that a poll holds, as arrays of numbers: on the heap, not beside it.
      const held = number('kb') > 0 ? Array.from({ length: number('kb') * 128 }, (_, at) => at + 0.5) : [];
      await pause(number('ms'));
      return response.end(`polled ${held.length}`);
    }
    case 'stream': {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      const timer = setInterval(() => response.write('data: 2\n\n'), 1_000);
      const end = setTimeout(() => response.end(), number('ms'));
      return response.on('close', () => {
        clearInterval(timer);
        clearTimeout(end);
      });
    }
    case 'upstream':
      await pause(number('ms'));
      return response.end(page());
    case 'job':
      await job(number('ms'));
      return response.end('done');
    case 'nested': {
      const depth = number('depth');
      const status = depth > 0 ? await ask(request.headers.host, `/nested?depth=${depth - 1}`) : 200;
      response.statusCode = status;
      return response.end(page());
    }
    default:
      return response.end(page());
  }
}

http
  .createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
  })
  .listen(process.env.PORT ?? 3000, '127.0.0.1', 16_384);
