#!/usr/bin/env node
// Begins to take over the cached pages of the gateway that it is to replace, says that it is ready, and dies in the middle of them.
'use strict';

const net = require('node:net');

const wire = new net.Socket({ fd: 0, readable: true, writable: true });
let heard = '';
wire.on('data', (piece) => {
  heard += piece;
  if (!heard.includes('\n')) return;
  const { pages } = JSON.parse(heard.slice(0, heard.indexOf('\n')));
  const from = net.connect(pages);
  // The greeting of the old gateway has come.
  from.once('data', () => {
    from.write(Buffer.from([0x50, 100, 0, 0, 0, 1, 2, 3]));
    wire.write('{"say":"ready"}\n', () => process.exit(9));
  });
});
