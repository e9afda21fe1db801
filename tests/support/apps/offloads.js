// An app that has other threads compute: /offload?ms=40 gives so much work to one and waits; /light waits for 10 ms and uses 2 ms
// of CPU time itself; /ended offloads what never ends, until the client leaves. /running tells how many are out.
'use strict';

const http = require('node:http');
const { setTimeout: wait } = require('node:timers/promises');

/** CPU time and not the clock's, in whichever thread. */
function burn(ms) {
  const { readFileSync } = process.getBuiltinModule?.('node:fs') ?? require('node:fs');
  const spent = () => {
    process.cpuUsage();
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  };
  for (const before = spent(); spent() < before + ms;) {
    for (let step = 0; step < 50_000; step += 1) Math.imul(step, 31);
  }
}
exports.burn = burn;
exports.forEver = () => {
  for (;;);
};

async function serve() {
  const { offload } = await import('@sluice/breathe/offload');
  const { pathToFileURL } = require('node:url');
  const task = (name) => new URL(`#${name}`, pathToFileURL(__filename));
  let running = 0;
  http
    .createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://app.test');
      if (pathname === '/running') return response.end(String(running));
      if (pathname === '/light') {
        await wait(10);
        burn(2);
        return response.end('light\n');
      }
      running += 1;
      try {
        const ms = Number(searchParams.get('ms') ?? 40);
        if (pathname === '/ended') await offload(task('forEver'), [], { response });
        else await offload(task('burn'), [ms], { response });
        response.end('done\n');
      } catch (error) {
        if (error.code !== 'SLU_OFFLOAD_LEFT') throw error;
      } finally {
        running -= 1;
      }
    })
    .listen(process.env.PORT);
}

if (require('node:worker_threads').isMainThread) void serve();
