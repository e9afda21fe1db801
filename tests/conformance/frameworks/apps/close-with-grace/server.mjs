// Fastify that is closed by close-with-grace, as its readme has it.
import closeWithGrace from 'close-with-grace';
import Fastify from 'fastify';

const fastify = Fastify({ logger: true });
fastify.get('/', async () => ({ hello: 'world' }));
fastify.get('/slow', async (request) => {
  const ms = Number(request.query.ms ?? 100);
  await new Promise((resolve) => setTimeout(resolve, ms));
  return { waited: ms };
});

closeWithGrace({ delay: 5_000 }, async ({ signal, err }) => {
  if (err) fastify.log.error({ err }, 'server closing with error');
  else fastify.log.info(`${signal} received, server closing`);
  await fastify.close();
});

await fastify.listen({ port: Number(process.env.PORT ?? 3000), host: '0.0.0.0' });
