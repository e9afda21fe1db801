// Faye as its documentation has it: a server of Node with the adapter attached.
const http = require('node:http');
const faye = require('faye');

const bayeux = new faye.NodeAdapter({ mount: '/faye', timeout: 25 });
const server = http.createServer((_request, response) => response.end('page'));
bayeux.attach(server);
server.listen(process.env.PORT ?? 3000);
