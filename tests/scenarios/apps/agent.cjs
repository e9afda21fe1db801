// An agent as `NODE_OPTIONS` loads it: it opens a server of its own before the app's first line, on AGENT_PORT.
'use strict';

const http = require('node:http');

const server = http.createServer((request, response) => response.end(`agent ${process.pid}`));
server.listen(Number(process.env.AGENT_PORT), () => console.log('agent listens'));
