// The same as `koa.cjs` as a module.
import Koa from 'koa';
import Router from '@koa/router';
import routes from './koa-routes.cjs';

const app = new Koa();
routes.add(Router, app);
app.listen(process.env.PORT);
