// A server with long polls in the form of Engine.IO, and pages beside them. It says what it holds, and who has left it.
const { createServer } = require('node:http');

const polls = new Map();
let sids = 0;
let inPage = 0;
let inPageMax = 0;
let closed = 0;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  const sid = searchParams.get('sid');
  if (pathname === '/told')
    return response.end(JSON.stringify({ pid: process.pid, polls: polls.size, inPageMax, closed }));
  if (pathname === '/exit') process.exit(1);
  if (pathname === '/page') {
    // Waits between two turns, as a page that fetches does.
    inPageMax = Math.max(inPageMax, (inPage += 1));
    return setTimeout(() => {
      inPage -= 1;
      response.end(`page of ${process.pid}`);
    }, 200);
  }
  if (sid === null) {
    sids += 1;
    return response.end(`0${JSON.stringify({ sid: `sid-${process.pid}-${sids}`, upgrades: [] })}`);
  }
  if (!sid.startsWith(`sid-${process.pid}-`)) return response.writeHead(400).end('unknown sid');
  if (request.method === 'POST') {
    polls.get(sid)?.end(`4${process.pid}`);
    return response.end('ok');
  }
  polls.set(sid, response);
  response.once('close', () => {
    polls.delete(sid);
    if (!response.writableFinished) closed += 1;
  });
});

server.listen(process.env.PORT ?? 3000);
