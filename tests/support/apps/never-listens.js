// Starts, says why it is stuck, and never listens.
'use strict';

console.error('waiting for a database that never comes');
setInterval(() => {}, 1000);
