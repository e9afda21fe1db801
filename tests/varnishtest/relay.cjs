// The app of these tests: asks the server that a test describes, and answers what that says.
'use strict';

const http = require('node:http');

http
  .createServer((request, response) => {
    const { method, url, headers } = request;
    const asked = http.request(
      { host: '127.0.0.1', port: process.env.BACKEND_PORT, method, path: url, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode, answer.statusMessage, answer.headers);
        answer.on('error', () => response.destroy());
        answer.pipe(response);
      },
    );
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  })
  .listen(process.env.PORT);
