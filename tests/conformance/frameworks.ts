/**
 * The apps under `frameworks/`: how each is built and started, where its routes are, and what it can see of a client.
 *
 * Every app is one that a user of that framework could have written; nothing in it knows of Sluice. So a difference
 * between frameworks is told here, never by changing an app.
 */

export interface Framework {
  readonly name: string;
  /** `quick` runs in every test run, `long` when `SLUICE_TEST_LONG=1`. */
  readonly tier: 'quick' | 'long';
  /** The package whose version the table shows; `node` for an app on Node alone. */
  readonly shows: string;
  /** Folder below `frameworks/` that has `package.json` and the lock file. */
  readonly install: string;
  /** Folder below `frameworks/` the app is started in. */
  readonly folder: string;
  /** The oldest Node the framework runs on, where that is newer than the oldest Sluice runs on. */
  readonly nodeMin?: string;
  /** The npm script that builds it and a file that exists afterwards, relative to `install`. */
  readonly build?: { readonly script: string; readonly leaves: string };
  /** A script given to Node, or a command, as `sluice start ENTRY` and `sluice start -- COMMAND` take them. */
  readonly start: { readonly entry: string } | { readonly command: readonly [string, ...string[]] };
  /** What this framework's documentation says to set behind any proxy. */
  readonly env?: Readonly<Record<string, string>>;
  /** Started without `HOST`, so that the app listens where it does by default. */
  readonly hostUnset?: boolean;
  /** What any proxy sends and this app relies on; sent by the client where no gateway is in front. */
  readonly proxyHeaders?: Readonly<Record<string, string>>;
  /** A script or style sheet that the page names, where the framework builds one. */
  readonly builtAsset?: RegExp;
  /** How `POST /echo` wants `message`, and whether it answers with a page or with JSON. */
  readonly post: { readonly sends: 'form' | 'json'; readonly answers: 'page' | 'json' };
  /** `json`: messages are `{event, data}` objects, as NestJS has them. */
  readonly webSocket?: { readonly messages: 'text' | 'json' };
  /** It has `GET /items/:slug`, and its router shows the template to the preload. */
  readonly showsRoutes?: boolean;
  /** It also renders a page for `GET /shop/:slug`, of which the same holds. */
  readonly showsPages?: boolean;
  readonly sees: Sees;
}

/** What `GET /debug` of this app can tell about the client. */
export interface Sees {
  /** `req.socket` with its address, port and family. */
  readonly socket?: boolean;
  /** The framework's own idea of the client's address, such as Express' `req.ip`. */
  readonly ip?: boolean;
  /** The framework adds `X-Forwarded-For` itself where no proxy did. */
  readonly forwardedForAlone?: boolean;
}

const onQuick = (name: string) =>
  ({ name, tier: 'quick', install: 'quick', folder: `quick/${name}` }) as const;
const onLong = (name: string, install = name) => ({ name, tier: 'long', install, folder: install }) as const;

export const frameworks: readonly Framework[] = [
  {
    ...onQuick('node-http-cjs'),
    shows: 'node',
    start: { entry: 'server.js' },
    post: { sends: 'form', answers: 'json' },
    webSocket: { messages: 'text' },
    sees: { socket: true },
  },
  {
    ...onQuick('node-http-esm'),
    shows: 'node',
    start: { entry: 'server.mjs' },
    post: { sends: 'json', answers: 'json' },
    webSocket: { messages: 'text' },
    sees: { socket: true },
  },
  {
    ...onQuick('node-http-ts'),
    shows: 'node',
    nodeMin: '22.18.0',
    start: { entry: 'server.ts' },
    post: { sends: 'json', answers: 'json' },
    sees: { socket: true },
  },
  {
    ...onQuick('express4'),
    shows: 'express4',
    start: { entry: 'server.js' },
    post: { sends: 'form', answers: 'json' },
    webSocket: { messages: 'text' },
    showsRoutes: true,
    sees: { socket: true, ip: true },
  },
  {
    ...onQuick('express5'),
    shows: 'express',
    start: { entry: 'server.js' },
    post: { sends: 'json', answers: 'json' },
    webSocket: { messages: 'text' },
    showsRoutes: true,
    sees: { socket: true, ip: true },
  },
  {
    ...onQuick('fastify'),
    shows: 'fastify',
    start: { entry: 'server.js' },
    post: { sends: 'form', answers: 'json' },
    webSocket: { messages: 'text' },
    showsRoutes: true,
    sees: { socket: true, ip: true },
  },
  {
    ...onQuick('fastify'),
    name: 'fastify-localhost',
    shows: 'fastify',
    start: { entry: 'server.js' },
    hostUnset: true,
    env: { NODE_OPTIONS: `--import=${new URL('two-addresses.mjs', import.meta.url).href}` },
    post: { sends: 'form', answers: 'json' },
    webSocket: { messages: 'text' },
    sees: { socket: true, ip: true },
  },
  {
    ...onQuick('koa'),
    shows: 'koa',
    start: { entry: 'server.js' },
    post: { sends: 'form', answers: 'json' },
    webSocket: { messages: 'text' },
    sees: { socket: true, ip: true },
  },
  {
    ...onQuick('hono'),
    shows: 'hono',
    start: { entry: 'server.mjs' },
    post: { sends: 'form', answers: 'json' },
    webSocket: { messages: 'text' },
    sees: { socket: true },
  },
  {
    ...onLong('nestjs'),
    shows: '@nestjs/core',
    build: { script: 'build', leaves: 'dist/main.js' },
    start: { entry: 'dist/main.js' },
    post: { sends: 'json', answers: 'json' },
    webSocket: { messages: 'json' },
    showsRoutes: true,
    sees: { socket: true, ip: true },
  },
  {
    ...onLong('next-standalone', 'next'),
    shows: 'next',
    build: { script: 'build:standalone', leaves: '.next-standalone/standalone/server.js' },
    start: { entry: '.next-standalone/standalone/server.js' },
    builtAsset: /\/_next\/static\/[^"'\\]+\.js/,
    post: { sends: 'form', answers: 'json' },
    showsRoutes: true,
    showsPages: true,
    sees: { forwardedForAlone: true },
  },
  {
    ...onLong('next-start', 'next'),
    shows: 'next',
    build: { script: 'build', leaves: '.next/BUILD_ID' },
    start: { command: ['next', 'start'] },
    builtAsset: /\/_next\/static\/[^"'\\]+\.js/,
    post: { sends: 'form', answers: 'json' },
    showsRoutes: true,
    showsPages: true,
    sees: { forwardedForAlone: true },
  },
  {
    ...onLong('next-npm-run-start', 'next'),
    shows: 'next',
    build: { script: 'build', leaves: '.next/BUILD_ID' },
    start: { command: ['npm', 'run', 'start'] },
    builtAsset: /\/_next\/static\/[^"'\\]+\.js/,
    post: { sends: 'form', answers: 'json' },
    showsRoutes: true,
    showsPages: true,
    sees: { forwardedForAlone: true },
  },
  {
    ...onLong('react-router'),
    shows: 'react-router',
    nodeMin: '22.22.0',
    build: { script: 'build', leaves: 'build/server/index.js' },
    start: { command: ['react-router-serve', './build/server/index.js'] },
    builtAsset: /\/assets\/[^"'\\]+\.js/,
    post: { sends: 'form', answers: 'page' },
    sees: {},
  },
  {
    ...onLong('nuxt'),
    shows: 'nuxt',
    nodeMin: '22.19.0',
    build: { script: 'build', leaves: '.output/server/index.mjs' },
    start: { entry: '.output/server/index.mjs' },
    builtAsset: /\/_nuxt\/[^"'\\]+\.js/,
    post: { sends: 'json', answers: 'json' },
    webSocket: { messages: 'text' },
    sees: { socket: true, ip: true },
  },
  {
    ...onLong('sveltekit'),
    shows: '@sveltejs/kit',
    nodeMin: '22.17.0',
    build: { script: 'build', leaves: 'build/index.js' },
    start: { entry: 'build/index.js' },
    // Without this it takes every request for https and refuses the form as one from another site.
    env: { PROTOCOL_HEADER: 'x-forwarded-proto' },
    proxyHeaders: { 'x-forwarded-proto': 'http' },
    builtAsset: /\/_app\/immutable\/[^"'\\]+\.js/,
    post: { sends: 'form', answers: 'page' },
    sees: { ip: true },
  },
  {
    ...onLong('astro'),
    shows: 'astro',
    nodeMin: '22.12.0',
    build: { script: 'build', leaves: 'dist/server/entry.mjs' },
    start: { entry: 'dist/server/entry.mjs' },
    post: { sends: 'form', answers: 'json' },
    sees: { ip: true },
  },
];
