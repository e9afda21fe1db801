// An app of CommonJS modules that knows react-dom alone.
'use strict';

require('./react-page.cjs').serve({
  server: require('react-dom/server'),
  edge: require('react-dom/server.edge'),
  still: require('react-dom/static'),
});
