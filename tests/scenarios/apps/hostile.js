// Dies with every request that has the header `x-evil`, and answers any other after MS milliseconds (20), with its process id.
'use strict';

const http = require('node:http');

http
  .createServer((request, response) => {
    if (request.headers['x-evil'] !== undefined) return process.kill(process.pid, 'SIGKILL');
    setTimeout(() => response.end(`${process.pid}\n`), Number(process.env.MS ?? 20));
  })
  .listen(process.env.PORT);
