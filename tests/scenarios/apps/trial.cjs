// An app whose version says what a page costs, how often it fails, and whether it dies.
const { appendFileSync, readFileSync } = require('node:fs');
const { createServer } = require('node:http');

const version = JSON.parse(readFileSync(process.env.VERSION_FILE, 'utf8'));
let served = 0;

/** Work that takes the same CPU time however busy the machine is. */
function work(units) {
  let sum = 0;
  for (let unit = 0; unit < units * 100_000; unit += 1) sum = (sum + unit * unit) % 1_000_003;
  return sum;
}

createServer((request, response) => {
  served += 1;
  if (version.dies_after && served > version.dies_after) process.exit(3);
  work(version.units ?? 1);
  if (version.fails_every && served % version.fails_every === 0) {
    response.writeHead(500).end('failed');
    return;
  }
  const headers = {
    'content-type': 'text/plain',
    'x-version': version.version,
    'x-pid': String(process.pid),
  };
  if (request.url.startsWith('/cached')) {
    appendFileSync(`${process.env.VERSION_FILE}.renders`, `${version.version}\n`);
    headers['cache-control'] = 'max-age=600';
  }
  response.writeHead(200, headers).end(version.version);
}).listen(process.env.PORT);
