/**
 * The plugin for Vite 7 and 8. One build makes the code for browsers, with small components together in files, and the code for the
 * server. It also writes `sluice-assets.json`, which says to the server where the browser's code and styles are. It must not
 * know how pages are written.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { normalizePath, version as viteVersion, type Plugin, type ResolvedConfig } from 'vite';
import { FRAMEWORKS, adaptersFor, forGroups, installedIn } from './adapters.js';
import { type Assets, type Bundle, type ComponentAssets, codeFiles } from './assets.js';
import { type ComponentFile, findComponents, isComponentFile } from './components.js';
import { buildEarlyScript } from './early-script.js';
import { immutableFiles } from './immutable.js';
import { loadBundler } from './merge.js';
import { filesOf, groupFiles } from './output.js';
import * as modules from './modules.js';

export type { Assets, ComponentAssets, EarlyScript } from './assets.js';
export { findComponents, type ComponentFile } from './components.js';

export interface SluiceOptions {
  /** Folder of components, from Vite's root. Default: `components`. */
  readonly components?: string;
  /** Modules of further adapters by the name that the server's half has. Those of React, Preact and Vue are there if installed. */
  readonly adapters?: Readonly<Record<string, string>>;
  /**
   * Module whose default export is a React component around each box, in the browser, and `wrap` of the server's code: for theme, language
   * and router. A path from Vite's root. Default: none.
   */
  readonly wrap?: string;
  /** Share of page views whose vitals are measured and sent, from 0 to 1. Default: 1. */
  readonly vitals?: number;
  /**
   * Runtime of React components in the browser: React, or Preact's runtime and `preact/compat`, which is a tenth of it. In builds
   * alone; the server renders with React in any case. Default: `react`.
   */
  readonly reactRuntime?: 'react' | 'preact';
  /**
   * Upper bound of the components in one file, in KB of their minified code, 0 to 1024. A component larger than half of it has a file of its
   * own, and with 0 each has. In builds alone. Default: 16.
   */
  readonly groupKb?: number;
  /** Path of the manifest, from Vite's root. Default: `dist/sluice-assets.json`. */
  readonly manifest?: string;
}

/** Replacements of React for components that run on Preact. */
const COMPAT: ReadonlyMap<string, string> = new Map([
  ['react', 'preact/compat'],
  ['react-dom', 'preact/compat'],
  ['react-dom/client', 'preact/compat/client'],
  ['react/jsx-runtime', 'preact/jsx-runtime'],
  ['react/jsx-dev-runtime', 'preact/jsx-runtime'],
  // What React's compiler writes.
  ['react/compiler-runtime', 'preact/compat/compiler-runtime'],
]);
/** Further imports of the runtime. */
const OWN_IMPORTS = ['@sluice/browser > @sluice/render/state', '@sluice/browser > web-vitals'];
const VIRTUAL: ReadonlySet<string> = new Set([
  modules.RUNTIME,
  modules.REGISTRY,
  modules.SERVER,
  modules.WRAPPED_REACT,
  modules.DEV,
  modules.DEV_STYLES,
  modules.STYLE_FILES,
]);

export default function sluice(options: SluiceOptions = {}): Plugin {
  const {
    components: folder = 'components',
    manifest = 'dist/sluice-assets.json',
    vitals: vitalsShare = 1,
    reactRuntime = 'react',
    groupKb = 16,
  } = options;
  if (!(vitalsShare >= 0 && vitalsShare <= 1))
    throw new RangeError(`vitals must be from 0 to 1, not ${vitalsShare}`);
  if (reactRuntime !== 'react' && reactRuntime !== 'preact')
    throw new RangeError(`reactRuntime must be react or preact, not ${String(reactRuntime)}`);
  if (options.wrap !== undefined && reactRuntime === 'preact')
    throw new RangeError('wrap is for components that run on React: remove it, or reactRuntime: "preact"');
  if (!(groupKb >= 0 && groupKb <= 1024))
    throw new RangeError(`groupKb must be from 0 to 1024, not ${groupKb}`);
  let config: ResolvedConfig;
  let components: readonly ComponentFile[] = [];
  /** Modules of adapters, by name. */
  let adapters: ReadonlyMap<string, string> = new Map();
  /** Files of adapters by module, for those that files of several components need. */
  let groupedAdapters: ReadonlyMap<string, string> = new Map();
  let compat: ReadonlyMap<string, string> = new Map();
  let wrap: string | undefined;
  /** Rollup's names of the chunks for browsers, by what they are made of. */
  const chunks = new Map<string, string>();
  /** Files of each component, from the folder of the client's build. */
  let built: ReadonlyMap<string, ComponentAssets> = new Map();
  /** Names of files of several components. */
  const grouped = new Set<string>();

  const folderPath = (): string => path.posix.join(config.root, folder);
  const locateBuilt: modules.Locate = (file) => `import.meta.ROLLUP_FILE_URL_${chunks.get(file)}`;

  return {
    name: 'sluice',

    config: ({ environments, root = process.cwd() }) => ({
      appType: 'custom',
      builder: {},
      define: { __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'true' },
      // Adapters are imported from this package, and have to get the app's own framework.
      resolve: { dedupe: ['react', 'react-dom', 'preact', 'vue'] },
      environments: {
        client: {
          // Known from the start: one that is found later has Vite reload the page.
          optimizeDeps: {
            include: [...installedIn(root).flatMap((name) => FRAMEWORKS[name]), ...OWN_IMPORTS],
          },
          build: {
            outDir: environments?.['client']?.build?.outDir ?? 'dist/client',
            modulePreload: false,
            rollupOptions: { input: { sluice: modules.RUNTIME } },
          },
        },
        ssr: {
          build: {
            outDir: environments?.['ssr']?.build?.outDir ?? 'dist/server',
            ssr: true,
            emitAssets: false,
            rollupOptions: { input: { components: modules.SERVER } },
          },
        },
      },
    }),

    configResolved(resolved) {
      config = resolved;
      const runsOnPreact = reactRuntime === 'preact' && resolved.command === 'build';
      compat = runsOnPreact ? COMPAT : new Map();
      wrap = options.wrap === undefined ? undefined : path.posix.join(resolved.root, options.wrap);
      adapters = adaptersFor(resolved.root, options.adapters, runsOnPreact, wrap !== undefined);
      if (resolved.command === 'build' && groupKb > 0) ({ adapters, groupedAdapters } = forGroups(adapters));
    },

    async buildStart() {
      components = await findComponents(folderPath());
      if (config.command !== 'build' || this.environment.name !== 'client') return;
      const sources = [
        ...components.map(({ file }) => file),
        ...adapters.values(),
        modules.REGISTRY,
        modules.ownFile('vitals/measure'),
        modules.ownFile('runtime/early'),
      ];
      for (const id of sources)
        chunks.set(id, this.emitFile({ type: 'chunk', id, preserveSignature: 'strict' }));
    },

    resolveId: {
      // Before Vite finds React itself.
      order: 'pre',
      handler(id, importer) {
        if (VIRTUAL.has(id) || groupedAdapters.has(id)) return `\0${id}`;
        const standIn = this.environment.name === 'client' ? compat.get(id) : undefined;
        return standIn === undefined ? undefined : this.resolve(standIn, importer, { skipSelf: true });
      },
    },

    async load(id) {
      const isBuild = config.command === 'build';
      const locate = isBuild ? locateBuilt : modules.importing;
      const adapter = groupedAdapters.get(id.slice(1));
      if (adapter !== undefined) return modules.groupedAdapterModule(adapter);
      switch (id) {
        case `\0${modules.RUNTIME}`:
          return modules.runtimeModule({ adapters, vitalsShare, locate });
        case `\0${modules.REGISTRY}`:
          return isBuild
            ? modules.registryModule(components, locate, groupKb > 0 ? groupingName(groupKb) : undefined)
            : modules.devRegistryModule(components);
        case `\0${modules.SERVER}`:
          return modules.serverModule(components, wrap, normalizePath(config.root));
        case `\0${modules.WRAPPED_REACT}`:
          return wrap === undefined ? undefined : modules.wrappedReactModule(wrap);
        case `\0${modules.DEV}`:
          return modules.devModule(hasReactRefresh(config));
        case `\0${modules.DEV_STYLES}`:
          return modules.devStylesModule(await stylesBelow(folderPath()));
        case `\0${modules.STYLE_FILES}`:
          return modules.styleFilesModule(await stylesBelow(folderPath()));
        default:
          return undefined;
      }
    },

    generateBundle: {
      // Vite has put its last touches to chunks by then.
      order: 'post',
      async handler({ dir, format }, bundle) {
        if (config.command !== 'build' || this.environment.name !== 'client') return;
        const fileOf = (source: string): string => this.getFileName(chunks.get(source) ?? '');
        const chunkOf = new Map(components.map(({ key, file }) => [key, fileOf(file)]));
        const { minify, sourcemap, target } = this.environment.config.build;
        built =
          groupKb === 0 || format !== 'es'
            ? filesOf(bundle, chunkOf)
            : await groupFiles(
                {
                  bundle,
                  components: chunkOf,
                  registry: fileOf(modules.REGISTRY),
                  emit: (fileName, source) => {
                    grouped.add(fileName);
                    this.emitFile({ type: 'asset', fileName, source });
                  },
                },
                {
                  bytesMax: groupKb * 1024,
                  bundler: await loadBundler('rolldownVersion' in this.meta ? 'rolldown' : 'rollup'),
                  parse: (code) => this.parse(code),
                  output: {
                    sourcemap,
                    target,
                    isMinified: minify !== false,
                    dir: normalizePath(path.resolve(config.root, dir ?? '')),
                  },
                },
              );
      },
    },

    async writeBundle({ dir, assetFileNames }, bundle) {
      if (config.command !== 'build' || this.environment.name !== 'client') return;
      const target = path.resolve(config.root, manifest);
      const fromManifest = path
        .relative(path.dirname(target), dir ?? config.root)
        .split(path.sep)
        .join('/');
      const fileOf = (source: string): string => this.getFileName(chunks.get(source) ?? '');
      const runtime = config.base + runtimeFile(bundle);
      const written: Assets = {
        runtime,
        components: Object.fromEntries(
          [...built].map(([key, { js, css }]): [string, ComponentAssets] => [
            key,
            {
              js: js.map((file) => config.base + file),
              css: css.map((style) => path.posix.join(fromManifest, style)),
            },
          ]),
        ),
        adapters: Object.fromEntries(
          [...adapters].map(([name, file]) => [name, { js: addresses(bundle, fileOf(file)) }]),
        ),
        early: await buildEarlyScript(runtime),
        immutable: immutableFiles(bundle, grouped, assetFileNames),
      };
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, `${JSON.stringify(written, null, 2)}\n`);
    },

    configureServer(server) {
      // A new file is a new component, for browser and server.
      const look = async (file: string): Promise<void> => {
        const below = path.posix.relative(folderPath(), file.split(path.sep).join('/'));
        if (below.startsWith('..') || !isComponentFile(below)) return;
        components = await findComponents(folderPath());
        for (const environment of Object.values(server.environments)) {
          for (const id of VIRTUAL) {
            const module = environment.moduleGraph.getModuleById(`\0${id}`);
            if (module) environment.moduleGraph.invalidateModule(module);
          }
        }
        server.environments.client.hot.send({ type: 'full-reload' });
      };
      for (const event of ['add', 'unlink']) server.watcher.on(event, (file: string) => void look(file));
    },
  };

  function addresses(bundle: unknown, fileName: string): readonly string[] {
    return codeFiles(bundle as Bundle, fileName).map((file) => config.base + file);
  }
}

/** Groups depend on these beside the code of components. */
const groupingName = (groupKb: number): string => `1 ${groupKb} ${viteVersion}`;

function runtimeFile(bundle: Readonly<Record<string, { type: string; fileName: string }>>): string {
  const runtime = Object.values(bundle).find(
    (file) =>
      file.type === 'chunk' &&
      (file as { facadeModuleId?: string }).facadeModuleId === `\0${modules.RUNTIME}`,
  );
  if (!runtime) throw new Error('the build has no chunk for the runtime of @sluice/browser');
  return runtime.fileName;
}

async function stylesBelow(folder: string): Promise<readonly string[]> {
  const found = (await readdir(folder, { recursive: true })).map((file) => file.split(path.sep).join('/'));
  return found
    .filter((file) => /\.(?:css|scss|sass|less|styl)$/.test(file))
    .toSorted()
    .map((file) => path.posix.join(folder, file));
}

function hasReactRefresh({ plugins }: ResolvedConfig): boolean {
  return plugins.some(({ name }) => name.startsWith('vite:react'));
}
