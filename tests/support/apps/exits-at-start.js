// Fails before it listens, with a message that an operator must get to see.
'use strict';

console.error('the configuration of this app is broken on purpose');
process.exit(3);
