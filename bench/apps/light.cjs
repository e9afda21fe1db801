// A request that takes little: `hello` of plain Node, or a JSON answer of an Express route. `LIGHT_PATH` is the socket.
const http = require('node:http');
const { items } = require('./lib/items.cjs');

const [kind] = process.argv.slice(2);
const server = kind === 'express' ? http.createServer(items()) : http.createServer(hello);
// The connection rests while others have their turn.
server.keepAliveTimeout = 0;
server.listen(process.env.LIGHT_PATH);

function hello(_request, response) {
  response.end('hello');
}
