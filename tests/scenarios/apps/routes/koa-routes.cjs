// What `koa.cjs` and `koa.mjs` serve, with what is wrong with tables planted: a duplicate, a route behind another, a growing table.
const say = (text) => (context) => void (context.body = text);

exports.add = (Router, app) => {
  const router = new Router();
  const nested = new Router();
  router.use(async (_context, next) => await next());
  router.get('/users/:id', (context) => void (context.body = context.params.id));
  router.get('/users/me', say('never')); // behind-never
  nested.get('/items/:id', say('item')); // nested
  router.use('/shop', nested.routes());
  router.get('/list', say('list'));
  router.get('/list', say('again')); // duplicate
  router.get('/grow', (context) => {
    router.get('/grown', say('grown')); // grows
    context.body = 'grown';
  });
  app.use(router.routes()).use(router.allowedMethods());
};
