// Asks the hosts in UPSTREAMS, one after the other: by `fetch`, or by `http` where the path is /http.
'use strict';

const http = require('node:http');

const agent = new http.Agent({ keepAlive: true });
const upstreams = process.env.UPSTREAMS.split(',');

const byHttp = (url) =>
  new Promise((done, failed) => {
    http.get(url, { agent }, (answer) => answer.resume().on('end', done)).on('error', failed);
  });

http
  .createServer(async (request, response) => {
    for (const upstream of upstreams) {
      const url = `http://${upstream}${request.url}`;
      if (request.url.startsWith('/http')) await byHttp(url).catch(() => {});
      else
        await fetch(url).then(
          (answer) => answer.text(),
          () => {},
        );
    }
    response.end('done');
  })
  .listen(process.env.PORT);
