/** `@sluice/react/lines`: which versions of React are known. It loads no React. */
export * from './facts/lines.js';
