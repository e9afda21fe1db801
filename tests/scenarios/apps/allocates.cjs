// Allocates what stays (`/keep`) and what does not (`/waste`).
'use strict';

const http = require('node:http');

const kept = [];

function keepMuch(count) {
  for (let index = 0; index < count; index += 1)
    kept.push({ index, text: `item ${index}`, of: [index, index + 1] });
}

function wasteMuch(count) {
  let last;
  for (let index = 0; index < count; index += 1)
    last = { last: index, text: `item ${index}`, of: [index, index + 1] };
  return last;
}

http
  .createServer((request, response) => {
    const count = Number(/n=(\d+)/.exec(request.url)?.[1] ?? 500);
    if (request.url.startsWith('/keep')) keepMuch(count);
    if (request.url.startsWith('/waste')) wasteMuch(100 * count);
    response.end('ok\n');
  })
  .listen(process.env.PORT ?? 3000);
