// An app that mostly waits: `/page` waits for an upstream for 50 ms and then computes for 5; `/spin` computes for 150 and
// `/turn` for 20; `/lock` keeps its thread waiting for another one for 30. Each answer says how many requests the app held at most at once so far.
'use strict';

const http = require('node:http');

let held = 0;
let held_max = 0;

function compute(ms) {
  const end = Date.now() + ms;
  while (Date.now() < end);
}

http
  .createServer((request, response) => {
    held += 1;
    held_max = Math.max(held_max, held);
    const end = () => {
      const told = held_max;
      held -= 1;
      response.end(`${told}\n`);
    };
    if (request.url === '/page') {
      setTimeout(() => {
        compute(5);
        end();
      }, 50);
    } else if (request.url === '/lock') {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
      end();
    } else {
      compute({ '/spin': 150, '/turn': 20 }[request.url] ?? 0);
      end();
    }
  })
  .listen(process.env.PORT ?? 3000);
