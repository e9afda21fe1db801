// Pages with holes. The app is Express's and the listing React's, as their users write them; what an include does is in its path.
'use strict';

const fs = require('node:fs');
// Not named where a linter looks: their types would count for all apps of this folder.
const [express, { createElement }, { renderToPipeableStream }] = ['express', 'react', 'react-dom/server'].map(
  (name) => require(name),
);

const app = express();

app.use((request, _response, next) => {
  fs.appendFileSync(process.env.RENDERS_FILE, `${request.method} ${request.url}\n`);
  next();
});

/** A page that is for all, but for what stands in its includes. Without Sluice it has none. */
app.get('/listing', (request, response) => {
  const isComposed = request.get('surrogate-capability')?.includes('ESI/1.0') === true;
  if (isComposed) response.set('Surrogate-Control', 'max-age=60, content="ESI/1.0"');
  const cart = isComposed
    ? createElement('esi:include', { src: '/cart?from=listing&at=1', alt: '/nobody' })
    : createElement('b', null, 'whole');
  const page = createElement(
    'html',
    null,
    createElement('body', null, createElement('p', null, '<esi:include src="/no"/>'), cart),
  );
  response.type('html');
  const { pipe } = renderToPipeableStream(page, { onShellReady: () => pipe(response) });
});

/** A page that is written as asked for, with an entity tag and compression by its own will. */
app.all('/page', (request, response) => {
  const { body = '', control = 'content="ESI/1.0"', encoding } = request.query;
  if (control !== '') response.set('Surrogate-Control', control);
  if (encoding !== undefined) response.set('Content-Encoding', encoding);
  response.type('html').send(body);
});

app.get('/cart', (request, response) => {
  response
    .set('Cache-Control', 'private, no-store')
    .cookie('seen', '1')
    .send(`[${request.get('cookie')}]`);
});

app.get('/menu', (_request, response) => {
  response.set('Cache-Control', 's-maxage=60').send('menu');
});

app.get('/nobody', (_request, response) => {
  response.send('nobody');
});

app.get('/wait', (request, response) => {
  setTimeout(() => response.send(`waited ${request.query.ms}`), Number(request.query.ms));
});

app.get('/fails', (_request, response) => {
  response.status(500).send('fails');
});

app.get('/moved', (_request, response) => {
  response.redirect('/nobody');
});

app.get('/dies', (_request, response) => {
  response.write('half');
  setTimeout(() => process.exit(1), 50);
});

app.listen(3000);
