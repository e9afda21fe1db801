// An app that waits for data: /light uses 3 ms of CPU time and waits twice for 10 ms, /heavy uses 60 ms and waits twice for
// 30 ms, a third before, between and after. What it waits for comes over connections that were open before any request, as from
// a pool; with ?via=callback nothing is a promise, and what comes goes on in the connection's context.
'use strict';

const http = require('node:http');
const net = require('node:net');
const { Worker } = require('node:worker_threads');

const KINDS = { '/light': { cpu_ms: 3, wait_ms: 20 }, '/heavy': { cpu_ms: 60, wait_ms: 60 } };

/** CPU time and not the clock's, which a busy machine lets pass without any work. */
function burn(ms) {
  const before = process.cpuUsage();
  for (let spent_us = 0; spent_us < ms * 1000;) {
    for (let step = 0; step < 2_000; step += 1) Math.imul(step, 31);
    const { user, system } = process.cpuUsage(before);
    spent_us = user + system;
  }
}

// In a thread, so that the main one only asks. Its few microseconds count for the process.
const database = new Worker(
  `const { parentPort } = require('node:worker_threads');
   const server = require('node:net').createServer((socket) => {
     socket.setEncoding('utf8').on('error', () => {}).on('data', (text) => {
       for (const line of text.split('\\n').slice(0, -1)) {
         const [id, ms] = line.split(' ');
         setTimeout(() => socket.write(id + '\\n'), Number(ms));
       }
     });
   }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
  { eval: true },
);

const POOL = 30;
const pool = [];
const waiting = [];

/** One query at a time on each connection, as pools have it. */
function query(ms, done) {
  const connection = pool.pop();
  if (connection === undefined) return void waiting.push(() => query(ms, done));
  connection.done = done;
  connection.write(`0 ${ms}\n`);
}

function answered() {
  const { done } = this;
  pool.push(this);
  waiting.shift()?.();
  done();
}

const queried = (ms) => new Promise((done) => query(ms, done));

async function render({ cpu_ms, wait_ms }, response) {
  burn(cpu_ms / 3);
  await queried(wait_ms / 2);
  burn(cpu_ms / 3);
  await queried(wait_ms / 2);
  burn(cpu_ms / 3);
  response.end('done');
}

function renderByCallbacks({ cpu_ms, wait_ms }, response) {
  burn(cpu_ms / 3);
  query(wait_ms / 2, () => {
    burn(cpu_ms / 3);
    query(wait_ms / 2, () => {
      burn(cpu_ms / 3);
      response.end('done');
    });
  });
}

const server = http.createServer((request, response) => {
  const kind = KINDS[request.url.split('?')[0]];
  if (kind === undefined) response.writeHead(404).end();
  else if (request.url.endsWith('?via=callback')) renderByCallbacks(kind, response);
  else void render(kind, response);
});

database.once('message', (port) => {
  for (let opened = 0; opened < POOL; opened += 1) {
    const connection = net.connect(port, '127.0.0.1', () => {
      pool.push(connection);
      if (pool.length === POOL) server.listen(process.env.PORT ?? 3000);
    });
    connection.on('data', answered);
  }
});
