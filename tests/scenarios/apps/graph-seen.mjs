// A graph: a page whose handler asks for more than its components show, a route that fails, and requests of browsers.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { PassThrough } from 'node:stream';
import { createElement, Suspense } from 'react';
import { renderToPipeableStream } from 'react-dom/server';
import { ref } from '@sluice/graph';
import { useGraph } from '@sluice/graph/react';
import { route, Router } from '@sluice/graph/router';
import { createPageGraph } from '@sluice/graph/server';
import { graphHandler } from '@sluice/graph/wire';

const router = new Router(
  [
    route('list[{integers:places}]', {
      get: ({ places }) =>
        places.map((place) => ({ path: ['list', place], value: ref(['titles', place + 10]) })),
    }),
    route('titles[{integers:ids}]["name", "price"]', {
      async get({ ids, 2: fields }) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return ids.flatMap((id) =>
          fields.map((field) => ({ path: ['titles', id, field], value: `${field} ${id}` })),
        );
      },
    }),
    route('bad', {
      get() {
        throw new TypeError('no stock\u001b[2J for this one');
      },
    }),
  ],
  { onError: () => undefined },
);
const model = graphHandler(router);

function Names() {
  const names = useGraph(['list', { to: 2 }, 'name']);
  return createElement(
    'p',
    null,
    Object.values(names.list).map(({ name }) => `${name}; `),
  );
}

async function page() {
  const graph = createPageGraph({ source: router.asDataSource() });
  // No component shows prices.
  await graph.model.get('list[0..2].price');
  const out = new PassThrough();
  const html = text(out);
  graph.run(() => {
    const { pipe } = renderToPipeableStream(
      createElement(Suspense, { fallback: '…' }, createElement(Names)),
      {
        onAllReady: () => pipe(out),
      },
    );
  });
  return (await html) + graph.script();
}

createServer(async (request, response) => {
  response.setHeader('x-pid', String(process.pid));
  if (await model.node(request, response)) return;
  response.end(await page());
}).listen(3000);
