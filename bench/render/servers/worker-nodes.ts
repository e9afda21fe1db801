// Express in front of threads that render: the process that serves has the data, and sends it to a thread of worker-nodes, which sends the
// HTML back. Both go by message, and so are copied.
import { createRequire } from 'node:module';
import path from 'node:path';
import express from 'express';
import { listing, type Listing } from '../shop/data';

/** Used part of worker-nodes; its own types are those of a module that exports a class by `module.exports`. */
interface Pool {
  readonly ready: () => Promise<unknown>;
  readonly call: { readonly render: (listing: Listing) => Promise<string> };
}
type PoolOf = new (
  file: string,
  options: { autoStart: boolean; minWorkers: number; maxWorkers: number },
) => Pool;

const installed = createRequire(path.join(process.env['WORKER_NODES_DIR'] ?? '', 'package.json'));
const WorkerNodes = installed('worker-nodes') as PoolOf;
const threads = Number(process.env['THREADS']);
const pool = new WorkerNodes(path.join(import.meta.dirname, 'renderer.cjs'), {
  autoStart: true,
  minWorkers: threads,
  maxWorkers: threads,
});

const app = express();
app.disable('x-powered-by');
app.use('/assets', express.static(path.join(import.meta.dirname, 'assets')));
app.get('/listing', (request, response, next) => {
  pool.call.render(listing(Number(request.query['page']))).then((html) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(html);
  }, next);
});
await pool.ready();
app.listen(Number(process.env['PORT']), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
