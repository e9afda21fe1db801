// A server on PORT that speaks HTTPS, or what SERVER_KIND says: h2c, h2 without HTTP/1.1, or bare TCP.
'use strict';

const kinds = {
  https: () => require('node:https').createServer({}, (_request, response) => response.end('app\n')),
  h2c: () => require('node:http2').createServer(),
  h2: () => require('node:http2').createSecureServer({}),
  net: () => require('node:net').createServer((socket) => socket.end('hello\n')),
};
kinds[process.env.SERVER_KIND ?? 'https']().listen(Number(process.env.PORT));
