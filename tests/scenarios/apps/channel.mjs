// Workers that send each other what a request asks for, print what they hear, and show it to those who listen to `/events`.
import fs from 'node:fs';
import http from 'node:http';
import { channel } from '@sluice/preload';

const { version } = JSON.parse(fs.readFileSync(process.env.VERSION_FILE, 'utf8'));
const streams = new Set();

channel.on('message', (message, from) => {
  console.log(`${channel.worker} hears ${message.text} of ${from}`);
  for (const stream of streams) stream.write(`data: ${message.text} of ${from}\n\n`);
  if (message.reply) channel.send(from, { text: `a reply to ${message.text}` });
});

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app');
    const text = searchParams.get('text');
    if (pathname === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${channel.worker}\n\n`);
      streams.add(response);
      return;
    }
    const { worker, workers } = channel;
    if (pathname === '/broadcast') channel.broadcast({ text });
    if (pathname === '/ask') for (const to of workers) channel.send(to, { text, reply: true });
    response.end(JSON.stringify({ version, worker, workers }));
  })
  .listen(process.env.PORT);
