// For servers that load their app with `require`: imports the one that BENCH_ENTRY names, whatever kind of module it is.
'use strict';

const { pathToFileURL } = require('node:url');

void import(pathToFileURL(process.env.BENCH_ENTRY).href);
