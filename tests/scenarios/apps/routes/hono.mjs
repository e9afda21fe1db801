// Routes of Hono, whose default router takes none once it has answered; with HONO=linear, its linear router, which does.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { logger } from 'hono/logger';
import { LinearRouter } from 'hono/router/linear-router';

const app = new Hono(process.env.HONO === 'linear' ? { router: new LinearRouter() } : {});
const shop = new Hono();
app.use(logger(() => {}));
app.get('/users/:id', (context) => context.text(context.req.param('id')));
app.get('/users/me', (context) => context.text('never')); // behind-never
shop.get('/items/:id{[0-9]+}', (context) => context.text('item')); // nested
app.route('/shop', shop);
app.get(
  '/list',
  async (context, next) => {
    await next();
  },
  (context) => context.text('list'),
);
app.get('/list', (context) => context.text('again')); // duplicate
app.get('/grow', (context) => {
  app.get('/grown', (inner) => inner.text('grown')); // grows
  return context.text('grown');
});
serve({ fetch: app.fetch, port: Number(process.env.PORT) });
