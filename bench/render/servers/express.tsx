// Express with React's own renderers: one tree for the whole page, in the process that has the data. `RENDERER` is `string`, or `stream`.
import path from 'node:path';
import express from 'express';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import { listing } from '../shop/data';
import { Document } from '../shop/document';

const app = express();
app.disable('x-powered-by');
app.use('/assets', express.static(path.join(import.meta.dirname, 'assets')));
app.get('/listing', (request, response) => {
  const page = <Document listing={listing(Number(request.query['page']))} />;
  if (process.env['RENDERER'] === 'string') {
    response.type('html').send(`<!DOCTYPE html>${renderToString(page)}`);
    return;
  }
  const stream = renderToPipeableStream(page, {
    onShellReady: () => {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      stream.pipe(response);
    },
    onShellError: () => {
      response.sendStatus(500);
    },
  });
});
app.listen(Number(process.env['PORT']), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
