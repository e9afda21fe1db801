// The work of `spin.js`, counted: how many requests this process held at once, as the app itself sees it. The counts go to
// a file per process in OVERLAP_DIR, so that asking for them is not a request.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { work } = require('./lib/work.js');

const counts = { pid: process.pid, requests: 0, overlaps: 0, held_max: 0 };
let held = 0;

async function counted(request, response) {
  counts.requests += 1;
  held += 1;
  if (held > 1) counts.overlaps += 1;
  counts.held_max = Math.max(counts.held_max, held);
  try {
    await work(request, response);
  } finally {
    held -= 1;
  }
}

function report() {
  const file = path.join(process.env.OVERLAP_DIR ?? '.', `overlap-${process.pid}.json`);
  fs.writeFileSync(`${file}.new`, JSON.stringify(counts));
  fs.renameSync(`${file}.new`, file);
}

setInterval(report, 250).unref();
process.on('exit', report);
http.createServer((request, response) => void counted(request, response)).listen(process.env.PORT ?? 3000);
