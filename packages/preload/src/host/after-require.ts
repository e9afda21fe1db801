/**
 * Sees each CommonJS module of the app once it has been loaded, by `require` or by `import`. Both end in Node's
 * CommonJS loader, which needs no loader hooks and so neither their thread nor their time.
 */
import Module from 'node:module';

export type Loaded = (module: NodeModule, filename: string) => void;

interface Extensions {
  '.js': Loaded;
}

/** Calls `visit` for each module from now on, until the process ends. What `visit` throws, the app's `require` throws. */
export function afterRequire(visit: Loaded): void {
  const { _extensions: extensions } = Module as unknown as { readonly _extensions: Extensions };
  const load = extensions['.js'];
  extensions['.js'] = (module, filename) => {
    load(module, filename);
    visit(module, filename);
  };
}
