// `costly.js` after a boot that takes a second of CPU. In MARKS it leaves a file when the boot begins, named after worker and
// process, and one when it ends.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const mark = (name) => fs.writeFileSync(path.join(process.env.MARKS, name), '');

mark(`begin-${process.env.SLUICE_WORKER}-${process.pid}`);
const before = process.cpuUsage();
for (let spent_us = 0; spent_us < 1_000_000;) {
  const { user, system } = process.cpuUsage(before);
  spent_us = user + system;
}
mark(`end-${process.env.SLUICE_WORKER}`);
module.exports = require('./costly.js');
