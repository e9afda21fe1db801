// Listens once the file that LET names is there, and says which process answers.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const server = http.createServer((_request, response) => response.end(`${process.pid}\n`));
const timer = setInterval(() => {
  if (!fs.existsSync(process.env.LET)) return;
  clearInterval(timer);
  server.listen(process.env.PORT);
}, 5);
