import { serve, upgradeWebSocket } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { html } from 'hono/html';
import { streamText } from 'hono/streaming';
import { WebSocketServer } from 'ws';

const app = new Hono();

app.get('/', (c) =>
  c.html(
    html`<!doctype html><title>Hono</title>
      <h1>Hello from hono</h1>
      <p>${new Date().toISOString()}</p>`,
  ),
);

app.post('/echo', async (c) => {
  const { message } = await c.req.parseBody();
  return c.json({ message });
});

app.get('/stream', (c) =>
  streamText(c, async (stream) => {
    await stream.writeln('first part');
    await stream.sleep(300);
    await stream.writeln('second part');
  }),
);

app.get('/download', (c) =>
  streamText(c, async (stream) => {
    for (let left = Number(c.req.query('bytes')); left > 0; left -= 10_000) {
      await stream.write('0123456789'.repeat(1000));
    }
  }),
);

app.get('/wait', async (c) => {
  const name = c.req.query('name');
  console.log(`waits ${name}`);
  c.req.raw.signal.addEventListener('abort', () => console.log(`left ${name}`));
  await new Promise(() => {});
});

app.get('/debug', (c) => {
  const { remote } = getConnInfo(c);
  const url = new URL(c.req.url);
  return c.json({
    remoteAddress: remote.address,
    remotePort: remote.port,
    remoteFamily: remote.addressType,
    protocol: url.protocol.replace(':', ''),
    host: url.host,
    headers: c.req.header(),
    port: process.env.PORT,
    pid: process.pid,
  });
});

app.get(
  '/ws',
  upgradeWebSocket(() => ({
    onMessage(event, ws) {
      ws.send(event.data);
    },
  })),
);

app.use('/*', serveStatic({ root: `${import.meta.dirname}/public` }));

serve(
  {
    fetch: app.fetch,
    port: Number(process.env.PORT ?? 3000),
    websocket: { server: new WebSocketServer({ noServer: true }) },
  },
  (info) => {
    console.log(`listening on http://localhost:${info.port}`);
  },
);
