// Serves on PORT and on as many further paths as DOORS says, in the folder DOORS_DIR.
'use strict';

const http = require('node:http');
const path = require('node:path');

const server = () => http.createServer((_request, response) => response.end('in\n'));
server().listen(process.env.PORT);
for (let door = 0; door < Number(process.env.DOORS); door++) {
  server().listen(path.join(process.env.DOORS_DIR, `${door}.sock`));
}
