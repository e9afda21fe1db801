// Says which of its environment variables hold the text of `?text=`, as Node.js sees them now and as the process got them.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const given = fs.existsSync('/proc/self/environ') ? fs.readFileSync('/proc/self/environ', 'utf8') : '';

http
  .createServer((request, response) => {
    const text = new URL(request.url, 'http://app').searchParams.get('text');
    const variables = [...Object.entries(process.env).map((pair) => pair.join('=')), ...given.split('\0')];
    const found = variables.filter((variable) => variable.includes(text));
    response.end(JSON.stringify(found));
  })
  .listen(process.env.PORT);
