// Fills the heap in one request (`/fill`), or half of it (`/grow`); both go on only after the gateway has opened the
// inspector. `/inspector` says whether it is open, and `/list` fills half of the heap and answers with what others learn of the open inspector.
'use strict';

const { execFileSync } = require('node:child_process');
const http = require('node:http');
const inspector = require('node:inspector');

const BYTES = 2 ** 20;
const PAUSE_MS = 20;
const OPENED_MS_MAX = 20_000;

function spin(ms, isOver = () => false) {
  const end = Date.now() + ms;
  while (Date.now() < end && !isOver());
}

function grow(kept, mebibytes) {
  for (let count = 0; count < mebibytes; count += 1)
    kept.push(Array.from({ length: BYTES / 8 }, () => count + 0.5));
}

function fillHeap(kept) {
  for (;;) {
    grow(kept, 2);
    spin(PAUSE_MS);
  }
}

const waitForLook = () => spin(OPENED_MS_MAX, () => inspector.url() !== undefined);

/** Asks as another process would, while the event loop does not turn and so the inspector stays open. */
function listed() {
  const { host } = new URL(inspector.url());
  const code = `fetch('http://${host}/json/list').then(async (list) => console.log('listed', await list.text()))`;
  return execFileSync(process.execPath, ['-e', code], { env: {}, encoding: 'utf8' });
}

http
  .createServer((request, response) => {
    const kept = [];
    if (request.url !== '/inspector') {
      grow(kept, 150);
      waitForLook();
    }
    if (request.url === '/fill') fillHeap(kept);
    if (request.url === '/list') return response.end(listed());
    response.end(inspector.url() === undefined ? 'closed' : 'open');
  })
  .listen(process.env.PORT ?? 3000);
