// Routes of Fastify, which refuses duplicates and prefers names to parameters itself.
const fastify = require('fastify')();

fastify.get('/users/:id', async (request) => request.params.id);
fastify.get('/users/me', async () => 'me');
fastify.register(
  async (shop) => {
    shop.route({ method: ['GET', 'POST'], url: '/items', handler: async () => 'items' }); // nested
  },
  { prefix: '/shop' },
);
fastify.listen({ port: Number(process.env.PORT) });
