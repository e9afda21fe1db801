// An app that gets stuck or waits in each way, by path. `/slow-io?ms=3000` only waits, and its event loop turns.
'use strict';

const { execSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const inspector = require('node:inspector');

function spin(start) {
  let x = start;
  for (;;) x = (x * 31 + 7) | 0;
}

function check(text) {
  return /^(a+)+$/.test(text);
}

function waitForChild() {
  execSync('sleep 60');
}

// A render that is only large.
function large() {
  const end = Date.now() + 3_000;
  while (Date.now() < end);
  return 'large';
}

// A loop that somebody ends.
function loopUntil(file) {
  while (!fs.existsSync(file));
  return 'ended';
}

function fill() {
  const kept = [];
  for (;;) kept.push(Array.from({ length: 1000 }, () => kept.length));
}

const ways = {
  '/loop': () => spin(1),
  '/regex': () => check(`${'a'.repeat(80)}b`),
  '/child': waitForChild,
  '/lock': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  '/memory': fill,
  '/loop-later': () => void setTimeout(() => spin(1), 50),
  '/pause': () => execSync('sleep 2.2'),
  '/large': large,
  '/loop-until': (parameters) => loopUntil(parameters.get('file')),
  '/inspector': () => (inspector.url() === undefined ? 'closed' : 'open'),
  '/debug-port': () => process.debugPort,
};

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app');
    if (pathname === '/slow-io') {
      setTimeout(() => response.end('slow\n'), Number(searchParams.get('ms')));
      return;
    }
    response.end(`${ways[pathname]?.(searchParams) ?? process.pid}\n`);
  })
  .listen(process.env.PORT ?? 3000);
