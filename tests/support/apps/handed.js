// Cheap requests, of which some are not: with `x-ms` a request computes for so long, with `x-wait` it waits so long. Each
// process keeps a file in HANDED_DIR with the ids of what it has begun, and writes `overlap` there when it holds two.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const begun = fs.openSync(path.join(process.env.HANDED_DIR, `begun-${process.pid}`), 'a');
let held = 0;

http
  .createServer((request, response) => {
    const id = request.headers['x-id'];
    // At once, as the process may be killed at any moment.
    if (id !== undefined) fs.writeSync(begun, `${id}\n`);
    held += 1;
    if (held > 1) fs.writeSync(begun, 'overlap\n');
    const until = performance.now() + Number(request.headers['x-ms'] ?? 0);
    while (performance.now() < until);
    const end = () => {
      held -= 1;
      response.end('ok\n');
    };
    const wait = Number(request.headers['x-wait'] ?? 0);
    if (wait > 0) setTimeout(end, wait);
    else end();
  })
  .listen(process.env.PORT ?? 3000);
