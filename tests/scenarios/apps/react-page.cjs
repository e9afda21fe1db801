// What the React apps beside this file answer with, whoever renders it: they differ in how they load react-dom alone.
'use strict';

const { createServer } = require('node:http');
const { PassThrough } = require('node:stream');
const { text } = require('node:stream/consumers');
const React = require('react');

const { createElement: h, Suspense } = React;

function Row({ at }) {
  const id = React.useId();
  return h('li', { id, title: `"row" ${at}`, style: { marginTop: at } }, 'Row ', at, ' & more');
}

const later = new Map();

/** Suspends once for each request. */
function Later({ request }) {
  if (!later.has(request)) later.set(request, new Promise((resolve) => setTimeout(resolve, 5, 'late')));
  return h('em', null, React.use(later.get(request)));
}

function Page({ rows, request }) {
  const late = request === undefined ? 'none' : h(Later, { request });
  return h(
    'main',
    { className: 'page' },
    h('title', null, 'A page'),
    h('ul', null, ...Array.from({ length: rows }, (_, at) => h(Row, { key: at, at }))),
    h(Suspense, { fallback: h('i', null, 'wait') }, late),
  );
}

function Unused() {
  throw new Error('not seen');
}

let requests = 0;

/** `server`, `edge` and `still` are the modules `react-dom/server`, `react-dom/server.edge` and `react-dom/static`. */
exports.serve = function serve({ server, edge, still }) {
  const stringOf = (rows) => server.renderToString(h(Page, { rows }));
  const answers = {
    '/string': () => stringOf(8),
    '/markup': () => server.renderToStaticMarkup(h(Page, { rows: 3 })),
    '/edge': () => edge.renderToString(h(Page, { rows: 4 })),
    '/pipeable': async (request) => {
      const { pipe } = server.renderToPipeableStream(h(Page, { rows: 3, request }));
      return text(pipe(new PassThrough()));
    },
    '/readable': async (request) => {
      const stream = await server.renderToReadableStream(h(Page, { rows: 3, request }));
      return text(stream);
    },
    '/edge-readable': async (request) =>
      text(await edge.renderToReadableStream(h(Page, { rows: 3, request }))),
    '/prerender': async (request) => text((await still.prerender(h(Page, { rows: 3, request }))).prelude),
    // The renderer leaves this one to react-dom.
    '/with-signal': async (request) => {
      const { signal } = new AbortController();
      return text((await still.prerender(h(Page, { rows: 3, request }), { signal })).prelude);
    },
    '/error': () => server.renderToString(h(Suspense, { fallback: 'failed' }, h(Unused))),
    '/names': () => JSON.stringify([server, edge, still].map((module) => Object.keys(module).sort())),
    '/nothing': () => 'nothing rendered',
  };
  const http = createServer((request, response) => {
    requests += 1;
    const path = request.url.split('?')[0];
    Promise.resolve(answers[path]?.(requests) ?? 'nowhere').then(
      (body) => response.end(body),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  http.listen(process.env.PORT ?? 3000);
};
