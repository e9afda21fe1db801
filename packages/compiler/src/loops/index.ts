/** Lets loops of async functions breathe: they yield to the event loop once they have run for a budget. */
export { default, default as babelPlugin, type LoopsOptions } from './babel.js';
export { compileLoops, type CompileLoopsOptions } from './compile.js';
export {
  esbuildLoops as esbuildPlugin,
  type LoopsEsbuildPlugin,
  default as vitePlugin,
  type LoopsPlugin,
  type LoopsPluginOptions,
} from './plugins.js';
export { type LoopFile, type LoopLine, loopsText } from './report.js';
