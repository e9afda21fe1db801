// Listens, and dies soon after: a loop of restarts unless somebody slows it down.
'use strict';

const http = require('node:http');

http
  .createServer((_request, response) => response.end('still here\n'))
  .listen(process.env.PORT, () =>
    setTimeout(() => {
      throw new Error('crashed later on purpose');
    }, 50),
  );
