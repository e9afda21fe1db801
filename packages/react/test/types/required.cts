/** Checked by `types.test.ts`, never run: what a CommonJS module of an app in TypeScript sees of this package. */
import React = require('react');
import react = require('@sluice/react');
import server = require('@sluice/react/server');
import compiled = require('@sluice/react/template');

const page = React.createElement(react.Cached, { cacheKey: 'a', ttl_ms: 1, tags: ['t'] }, 'text');
const html: string = server.renderToString(page, { identifierPrefix: 'p' });
const purged: number = server.purge('t');
const { pipe } = server.renderToPipeableStream(page, { onShellReady: () => pipe(process.stdout) });
const fallback: server.Fallback['reason'] = html;
const kind: compiled.ChildHole[0] = compiled.CHILD;

// @ts-expect-error -- The types are those of the functions, not `any`.
const wrong: number = server.renderToString(page);
// @ts-expect-error -- Also those of components.
React.createElement(react.Cached, { ttl_ms: 'soon' });

export = [html, purged, fallback, kind, wrong];
