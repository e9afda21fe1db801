/** Compiles React components for `@sluice/screens`: elements, props and updates that cost little on engines without JIT. */
export { default, default as babelPlugin, type ScreensOptions } from './babel.js';
export { compileScreens, type CompileScreensOptions } from './compile.js';
export {
  type FileReport,
  type Line,
  type Pass,
  PASSES,
  type Report,
  reportOf,
  type Stack,
  textOf,
  writeReport,
} from './report.js';
export {
  esbuildScreens as esbuildPlugin,
  type EsbuildPlugin,
  default as vitePlugin,
  type ScreensPlugin,
  type ScreensPluginOptions,
} from './vite.js';
