// The app of these pages: it stays the same before and after.
const http = require('node:http');

http
  .createServer((req, res) => {
    res.end(`hello from ${process.pid}\n`);
  })
  .listen(process.env.PORT ?? 3000);
