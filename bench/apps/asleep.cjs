// An app that computes without a CPU: it blocks its event loop, as a computation does, by sleeping. So more workers than cores are busy at
// once. The path says for how many milliseconds.
const { createServer } = require('node:http');

const cell = new Int32Array(new SharedArrayBuffer(4));

createServer((request, response) => {
  const [, ms = '0'] = /^\/(\d+)/.exec(request.url) ?? [];
  Atomics.wait(cell, 0, 0, Number(ms));
  response.end('slept');
}).listen(process.env.PORT);
