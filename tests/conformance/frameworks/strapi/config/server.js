'use strict';

module.exports = ({ env }) => ({
  host: env('HOST', '0.0.0.0'),
  port: env.int('PORT', 1337),
  app: { keys: ['first-key-of-a-test', 'second-key-of-a-test'] },
});
