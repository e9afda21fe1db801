// Express with React's own streaming renderer: one tree for the whole page, in the process that has the data.
import path from 'node:path';
import express from 'express';
import { renderToPipeableStream } from 'react-dom/server';
import { listing } from '../shop/data';
import { Document } from '../shop/document';

const app = express();
app.disable('x-powered-by');
app.use('/assets', express.static(path.join(import.meta.dirname, 'assets')));
app.get('/listing', (request, response) => {
  const stream = renderToPipeableStream(<Document listing={listing(Number(request.query['page']))} />, {
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
