// Throws what nobody catches: in the handler, later, as a rejected promise, or when the answer is long out.
'use strict';

const http = require('node:http');

const ways = {
  '/throw': () => {
    throw new Error('thrown in the handler');
  },
  '/throw-later': () => {
    setTimeout(() => {
      throw new Error('thrown later');
    }, 20);
  },
  '/reject': () => {
    void Promise.reject(new Error('rejected'));
  },
  '/reject-value': () => {
    void Promise.reject({ code: 7 });
  },
  '/throw-secret': () => {
    throw new Error(`no answer from ${process.env.SHOP_DATABASE_URL}`);
  },
  '/exit-on-rejection': () => {
    process.on('unhandledRejection', (error) => {
      console.error('unhandled:', error);
      process.exit(3);
    });
    void Promise.reject(new Error('the pool is gone'));
  },
  '/hold': (response) => {
    setTimeout(() => response.end('held\n'), 60_000);
  },
  '/throw-after': (response) => {
    response.end('ok\n');
    setTimeout(() => {
      throw new Error('thrown between two requests');
    }, 50);
  },
};

http
  .createServer((request, response) => {
    const way = ways[request.url];
    if (way === undefined) response.end('ok\n');
    else way(response);
  })
  .listen(process.env.PORT);
