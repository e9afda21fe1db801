// Routes of Koa with @koa/router, as CommonJS or, with `koa.mjs`, as modules.
const Koa = require('koa');
const Router = require('@koa/router');

const app = new Koa();
require('./koa-routes.cjs').add(Router, app);
app.listen(process.env.PORT);
