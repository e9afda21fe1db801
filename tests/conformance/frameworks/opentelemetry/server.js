require('./instrumentation.js');
const express = require('express');

const app = express();
app.get('/', (_request, response) => {
  response.send('<!doctype html><h1>Hello</h1>');
});
app.get('/items/:slug', (request, response) => {
  response.json({ slug: request.params.slug });
});

// As an app that connects to its database first.
setTimeout(() => {
  app.listen(Number(process.env.PORT ?? 3000));
}, 300);
