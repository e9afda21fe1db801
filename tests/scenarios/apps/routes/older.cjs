// Grows in three ways while it serves: what stands before the handler of /page, memory that is held, and files that stay open.
const fs = require('node:fs');
const express = require('express');

const app = express();
const early = express.Router();
const held = [];

function busy(ms) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

app.use('/page', early);
app.get('/page', (request, response) => {
  busy(1);
  response.send('page');
});
app.get('/steady', (request, response) => {
  busy(1);
  response.send('steady');
});

setInterval(() => {
  early.use((request, response, next) => {
    busy(0.2);
    next();
  });
  held.push(
    Buffer.alloc(1 << 20, 1),
    Array.from({ length: 50_000 }, (_, at) => ({ at })),
  );
  held.push(fs.openSync(__filename));
}, 200);

app.listen(process.env.PORT);
