// A graph of titles, which are the same for all, and of votes, which are a visitor's own. Titles are in the file DATA_FILE, which all
// workers read; RENDERS_FILE gets a line for each request that reaches the graph.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { route, Router } from '@sluice/graph/router';
import { graphHandler, graphTag } from '@sluice/graph/wire';
import { purge } from '@sluice/preload';

const titles = () => JSON.parse(readFileSync(process.env.DATA_FILE, 'utf8'));
const router = new Router([
  route('titles[{integers:ids}].name', {
    get: ({ ids }) => ids.map((id) => ({ path: ['titles', id, 'name'], value: titles()[id] })),
  }),
  route('titles.rename', {
    async call(_, [id, name]) {
      writeFileSync(process.env.DATA_FILE, JSON.stringify({ ...titles(), [id]: name }));
      await purge({ tag: graphTag(['titles', id]) });
      return { path: ['titles', id, 'name'], value: name };
    },
  }),
  route('me.name', { get: (_, { data }) => ({ path: ['me', 'name'], value: data.user }) }),
]);
const graph = graphHandler(router, {
  data: ({ headers }) => ({ user: /user=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? 'guest' }),
  cacheControl: (paths) => (paths.every(([root]) => root === 'titles') ? 'public, s-maxage=60' : undefined),
});

createServer(async (request, response) => {
  if (request.method === 'GET' && request.url.startsWith('/model.json'))
    appendFileSync(process.env.RENDERS_FILE, `${decodeURIComponent(request.url)}\n`);
  if (!(await graph.node(request, response))) response.writeHead(404).end();
}).listen(process.env.PORT);
