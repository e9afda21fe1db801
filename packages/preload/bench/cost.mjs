/**
 * What the preload costs per trivial request: CPU microseconds of the worker process, with and without it, in turns.
 * `npm run bench -w @sluice/preload`
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

const ROUNDS = 7;
const WARMUP_REQUESTS = 5_000;
const REQUESTS = 20_000;
const node = process.env.SLUICE_TEST_NODE ?? process.execPath;
const folder = mkdtempSync(join(tmpdir(), 'slu-cost-'));
const app = `const http = require('http'); let before;
  http.createServer((req, res) => {
    if (req.url === '/mark') before = process.cpuUsage();
    if (req.url === '/read') { const u = process.cpuUsage(before); return res.end(JSON.stringify([u.user + u.system])); }
    res.end('hello');
  }).listen(process.env.LISTEN, () => console.log('up'));`;

async function round(withPreload, name) {
  const path = join(folder, name);
  const control = createServer((socket) => socket.resume().on('error', () => {}));
  await new Promise((done) => control.listen(`${path}.c`, done));
  const preload = new URL('../dist/index.js', import.meta.url).href;
  const sluice = {
    SLUICE_SOCKET: path,
    SLUICE_CONTROL: `${path}.c`,
    SLUICE_WORKER: '1',
    SLUICE_CONCURRENCY: '1',
  };
  const child = spawn(node, [...(withPreload ? [`--import=${preload}`] : []), '-e', app], {
    env: { ...process.env, LISTEN: path, ...(withPreload ? sluice : {}) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((done) => child.stdout.once('data', done));
  const ask = await client(path);
  for (let count = 0; count < WARMUP_REQUESTS; count += 1) await ask('/');
  await ask('/mark');
  for (let count = 0; count < REQUESTS; count += 1) await ask('/');
  const [cpu_us] = JSON.parse((await ask('/read')).split('\r\n\r\n')[1].match(/\[.*\]/)[0]);
  child.kill('SIGKILL');
  control.close();
  return cpu_us / REQUESTS;
}

/** One kept connection, one request at a time; the same bytes on both sides. */
async function client(path) {
  const socket = connect(path);
  await new Promise((done) => socket.once('connect', done));
  socket.setEncoding('latin1');
  let id = 0;
  return (target) => {
    id += 1;
    const label = `id=${id};token=0123456789abcdef;peer=203.0.113.9:51234;local=192.0.2.1:3000;proto=http`;
    socket.write(
      `GET ${target} HTTP/1.1\r\nhost: shop.test\r\naccept: */*\r\nx-sluice-request: ${label}\r\n\r\n`,
    );
    return new Promise((done) => {
      let text = '';
      const read = (part) => {
        text += part;
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        if (end < 0 || text.length < end + 4 + length) return;
        socket.off('data', read);
        done(text);
      };
      socket.on('data', read);
    });
  };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const sides = { without: [], with: [] };
for (let count = 0; count < ROUNDS; count += 1) {
  sides.without.push(await round(false, `a${count}`));
  sides.with.push(await round(true, `b${count}`));
}
const [a, b] = [median(sides.without), median(sides.with)];
console.log(`${cpus()[0]?.model}, ${cpus().length} CPUs; ${ROUNDS} × ${REQUESTS} requests in turns, medians`);
for (const [side, values] of Object.entries(sides))
  console.log(`${side}: ${values.map((value) => value.toFixed(1)).join(' ')} µs`);
console.log(
  `CPU per trivial request: without ${a.toFixed(1)} µs, with the preload ${b.toFixed(1)} µs, added ${(b - a).toFixed(1)} µs`,
);
rmSync(folder, { recursive: true, force: true });
process.exit(0);
