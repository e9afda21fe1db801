// A route of Express that answers JSON at once.
const { createServer } = require('node:http');
const { items } = require('./lib/items.cjs');

createServer(items()).listen(process.env.PORT ?? 3000);
