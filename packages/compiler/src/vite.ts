/** The plugin for Vite and Rollup. In Vite it leaves the client's bundle and the development server alone. */
import { compile } from './compile.js';
import { type BundleContext, ServerBundle } from './server-bundle.js';

export interface SluiceOptions {
  /** Paths of files to compile; by default those that end in `.jsx` or `.tsx`, outside of `node_modules`. */
  readonly include?: RegExp;
  /** Path from which `react-dom` is looked up; by default the directory of each file, then the working directory. */
  readonly reactFrom?: string;
  /** Whether elements of components become holes of templates (true by default). False where a later step rewrites their JSX. */
  readonly components?: boolean;
}

/** The part of Vite's and Rollup's plugin interface in use here, so that neither has to be installed. */
export interface SluicePlugin {
  readonly name: string;
  readonly enforce: 'pre';
  readonly apply: 'build';
  configResolved(config: { readonly build: { readonly ssr?: boolean | string } }): void;
  transform(
    this: PluginContext,
    code: string,
    id: string,
    options?: { readonly ssr?: boolean | undefined },
  ): Promise<{ code: string; map: string | null } | undefined>;
}

interface PluginContext extends BundleContext {
  readonly warn: (message: string) => void;
}

const JSX_FILE = /\.[cm]?[jt]sx$/;

export default function sluice({ include, ...rest }: SluiceOptions = {}): SluicePlugin {
  const server = new ServerBundle();
  return {
    name: 'sluice',
    enforce: 'pre',
    apply: 'build',
    configResolved(config) {
      server.configure(config);
    },
    async transform(code, id, { ssr } = {}) {
      const path = id.replace(/[?#].*$/, '');
      if (!server.has(this, ssr) || id.startsWith('\0') || !isIncluded(path, include)) return undefined;
      const warn = (message: string): void => this.warn(message);
      const compiled = await compile(code, path, { ...rest, warn });
      return compiled && { code: compiled.code, map: compiled.map && JSON.stringify(compiled.map) };
    },
  };
}

function isIncluded(path: string, include: RegExp | undefined): boolean {
  if (include !== undefined) return include.test(path);
  return JSX_FILE.test(path) && !/[\\/]node_modules[\\/]/.test(path);
}
