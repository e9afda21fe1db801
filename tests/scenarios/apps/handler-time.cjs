// Middleware that waits before each handler.
const express = require('express');

const app = express();
app.use((request, response, next) => {
  setTimeout(next, 40);
});
app.get('/items/:id', (request, response) => {
  response.send('item');
});
app.listen(process.env.PORT);
