import { createElement as h } from 'react';
import {
  Form,
  Link,
  NavLink,
  Outlet,
  StaticRouterProvider,
  createStaticHandler,
  createStaticRouter,
  useLoaderData,
  useLocation,
  useParams,
  useRouteError,
} from 'react-router';

const routes = [
  {
    path: '/',
    Component: () =>
      h(
        'div',
        null,
        h(
          'nav',
          null,
          h(NavLink, { to: '/items/7', end: true }, ({ isActive }) => (isActive ? 'here' : 'there')),
          h(Link, { to: '../up?a=1&b=2' }, 'Up'),
        ),
        h(Outlet),
      ),
    children: [
      {
        path: 'items/:id',
        loader: ({ params }) => ({ name: `Item <${params.id}>` }),
        Component: Item,
        ErrorBoundary: Failed,
      },
    ],
  },
];

function Item() {
  const { id } = useParams();
  const { pathname, search } = useLocation();
  const { name } = useLoaderData();
  return h(
    'main',
    null,
    h('h1', null, name),
    `${id} at ${pathname}${search}`,
    h(
      Form,
      { method: 'post', action: '/save' },
      h('input', { name: 'x', defaultValue: id }),
      h('button', null, 'Save'),
    ),
  );
}

function Failed() {
  return h('p', null, String(useRouteError()));
}

export default async function make() {
  const handler = createStaticHandler(routes);
  const context = await handler.query(new Request('http://shop.example/items/7?q=1'));
  return h(StaticRouterProvider, { router: createStaticRouter(handler.dataRoutes, context), context });
}
