// `/card?id=N` renders a card that is cached by its number, in a cache with room for few of them.
'use strict';

const { createServer } = require('node:http');
const { createElement: h } = require('react');
const { renderToString } = require('react-dom/server');
const { Cached } = require('@sluice/react');
const { configureCache } = require('@sluice/react/server');

configureCache({ bytes_max: 40_000 });

function Card({ id }) {
  return h('article', null, `Card ${id} `, 'x'.repeat(1000));
}

createServer((request, response) => {
  const id = new URL(request.url, 'http://app').searchParams.get('id');
  response.setHeader('content-type', 'text/html');
  response.end(renderToString(h('main', null, h(Cached, { cacheKey: `card ${id}` }, h(Card, { id })))));
}).listen(process.env.PORT);
