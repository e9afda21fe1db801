// An app whose work is chosen by path: `/spin?ms=5` burns CPU, `/sleep`, `/stream`, `/big` and `/upload` do what they say.
'use strict';

const http = require('node:http');
const { work } = require('./lib/work.js');

http.createServer((request, response) => void work(request, response)).listen(process.env.PORT ?? 3000);
