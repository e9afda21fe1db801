/** `@sluice/react/server`: the package's renderer. */
export * from './api/server.js';
