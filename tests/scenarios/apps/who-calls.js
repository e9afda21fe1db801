// Serves on PORT, and says on FURTHER_PORT (KIND: http, https, net or smtp), what it knows of its client. FURTHER_PATH: the same by
// HTTP on a unix socket. With ASIDE the further server comes first and is the main one until SIGUSR2.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const net = require('node:net');

const of = (socket) =>
  `${JSON.stringify({
    pid: process.pid,
    remote: [socket.remoteAddress, socket.remotePort, socket.remoteFamily],
    local: [socket.localAddress, socket.localPort, socket.localFamily],
  })}\n`;
const answer = (request, response) => {
  response.setHeader('connection', 'close');
  response.end(of(request.socket));
};
const secrets = () => ({ key: fs.readFileSync(process.env.KEY), cert: fs.readFileSync(process.env.CERT) });
const kinds = {
  http: () => http.createServer(answer),
  https: () => https.createServer(secrets(), answer),
  // Speaks when it is spoken to.
  net: () => net.createServer((socket) => socket.once('data', () => socket.end(of(socket)))),
  // Speaks first.
  smtp: () => net.createServer((socket) => socket.end(of(socket))),
};

const main = http.createServer((_request, response) => response.end('main\n'));
const further = kinds[process.env.KIND]();
const listenFurther = () => further.listen(Number(process.env.FURTHER_PORT), process.env.FURTHER_HOST);
if (process.env.ASIDE) {
  listenFurther();
  process.once('SIGUSR2', () => main.listen(process.env.PORT));
} else {
  main.listen(process.env.PORT, () => {
    listenFurther();
    if (process.env.FURTHER_PATH) http.createServer(answer).listen(process.env.FURTHER_PATH);
  });
}
