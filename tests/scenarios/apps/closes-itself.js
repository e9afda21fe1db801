// Leaves by itself after an error, in order: no new requests, and the end when the present one has ended. Which it never has.
const http = require('node:http');

const server = http.createServer((request, response) => {
  if (request.url === '/fail') setTimeout(() => Promise.reject(new Error('failed later')), 10);
  else response.end(String(process.pid));
});
process.on('unhandledRejection', () => server.close(() => process.exit(1)));
server.listen(process.env.PORT);
