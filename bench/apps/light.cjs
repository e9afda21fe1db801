// A request that takes little: `hello` of plain Node, or a JSON answer of an Express route. `LIGHT_PATH` is the socket.
const http = require('node:http');

const [kind] = process.argv.slice(2);
if (kind === 'express') {
  const app = require('express')();
  app.get('/api/items/:id', (request, response) => {
    response.json({ id: request.params.id, name: 'A thing', price: 12.5, tags: ['new', 'small'], stock: 41 });
  });
  app.listen(process.env.LIGHT_PATH);
} else http.createServer((_request, response) => response.end('hello')).listen(process.env.LIGHT_PATH);
