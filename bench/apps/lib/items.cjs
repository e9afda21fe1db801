// An Express app with one route, which answers JSON.
exports.items = function items() {
  const app = require('express')();
  app.get('/api/items/:id', (request, response) => {
    response.json({ id: request.params.id, name: 'A thing', price: 12.5, tags: ['new', 'small'], stock: 41 });
  });
  return app;
};
