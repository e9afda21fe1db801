const cluster = require('node:cluster');

cluster.setupPrimary({ exec: 'server.js' });
for (let i = 0; i < 2; i += 1) cluster.fork();
cluster.on('exit', () => cluster.fork());
