// An app that takes BOOT_MS of CPU to boot, as a framework does, and WORK_MS for each request.
'use strict';

const http = require('node:http');

function burn(ms) {
  const before = process.cpuUsage();
  for (let spent_us = 0; spent_us < ms * 1000;) {
    const { user, system } = process.cpuUsage(before);
    spent_us = user + system;
  }
}

const work_ms = Number(process.env.WORK_MS);
burn(Number(process.env.BOOT_MS));
http
  .createServer((_, response) => {
    burn(work_ms);
    response.end('ok');
  })
  .listen(process.env.PORT);
