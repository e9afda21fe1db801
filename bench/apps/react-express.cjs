// An Express app that renders one page by `renderToString`: `node react-express.cjs PAGE FOLDER`, with the React that FOLDER has.
// `LIGHT_PATH` is the socket.
const http = require('node:http');
const { createRequire } = require('node:module');
const path = require('node:path');
const express = require('express');

const [page, folder] = process.argv.slice(2);
const requireThere = createRequire(path.join(folder, 'index.js'));
const { createElement: h, memo, useId, useMemo, useState } = requireThere('react');
const { renderToString } = requireThere('react-dom/server');

/** Cards on the page. */
const CARDS = { small: 2, middle: 20, large: 120 };

function Layout({ title, children }) {
  return h(
    'html',
    { lang: 'en' },
    h('head', null, h('meta', { charSet: 'utf-8' }), h('title', null, title)),
    h('body', { className: 'page' }, h(Header, { title }), h('main', null, children)),
  );
}

function Header({ title }) {
  const id = useId();
  const [open] = useState(false);
  return h(
    'header',
    { className: 'header', 'data-open': open },
    h('a', { className: 'logo', href: '/' }, 'Shop'),
    h('h1', null, title),
    h('form', { action: '/search' }, h('label', { htmlFor: id }, 'Search'), h('input', { id, name: 'q' })),
  );
}

const Card = memo(({ product }) => {
  const price = useMemo(() => (product.cents / 100).toFixed(2), [product.cents]);
  return h(
    'article',
    { className: product.cents > 5000 ? 'card dear' : 'card', style: { order: product.id, marginTop: 4 } },
    h('a', { href: `/p/${product.id}` }, h('h2', null, product.name)),
    h('p', null, product.text, ' & <more>'),
    h(
      'ul',
      null,
      product.tags.map((tag) => h('li', { key: tag }, tag)),
    ),
    h('span', { className: 'price' }, price, ' €'),
    h('button', { type: 'button', disabled: product.id % 7 === 0 }, 'Buy'),
  );
});

/** Fresh for each request. */
function products(count) {
  return Array.from({ length: count }, (_, id) => ({
    id,
    name: `Product ${id} "A"`,
    text: `Text of product ${id}, which is as long as a line or two of a card in a listing tends to be.`,
    cents: (id * 977) % 9000,
    tags: ['new', `tag-${id % 5}`, `tag-${id % 3}-b`],
  }));
}

const app = express();
app.get('/', (_request, response) => {
  const list = products(CARDS[page]);
  const cards = list.map((product) => h(Card, { key: product.id, product }));
  response.send(`<!doctype html>${renderToString(h(Layout, { title: 'Everything' }, cards))}`);
});
const server = http.createServer(app);
// The connection rests while others have their turn.
server.keepAliveTimeout = 0;
server.listen(process.env.LIGHT_PATH);
