/** Turns the JSX of a server bundle into templates that `@sluice/react` writes without walking them. */
export { default as babelPlugin, type BabelOptions } from './babel.js';
export { compile, type Compiled, type CompileOptions } from './compile.js';
export { default as webpackLoader, type LoaderOptions } from './webpack.js';
export { default as vitePlugin, type SluiceOptions, type SluicePlugin } from './vite.js';
