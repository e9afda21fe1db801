// The fixture's app, built by the plugin into a folder of its own, from which the server's half finds its packages.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type InlineConfig, createBuilder } from 'vite';
import sluice, { type Assets, type SluiceOptions } from '../../src/vite/index.ts';

export const FIXTURE = fileURLToPath(new URL('../fixtures/app', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

/** What a build's `register` is given. */
export interface Registering {
  lazy(
    name: string,
    load: () => Promise<{ default: unknown }>,
    settings: undefined,
    options: { readonly version?: string; readonly file: string },
  ): void;
}

export interface Built {
  readonly folder: string;
  /** Path of `sluice-assets.json`. */
  readonly manifest: string;
  /** Adds the server's components to a registry. */
  register(registry: object): void;
  /** The component around each box, as the server's code has it. */
  readonly wrap: unknown;
  readonly assets: Assets;
  /** By name, or `Name@version`. */
  readonly components: ReadonlyMap<string, () => Promise<{ default: unknown }>>;
}

/** Vite's config for the fixture. The sources of this repository stand in for the packages that are built of them. */
export function config(options: SluiceOptions = {}): InlineConfig {
  return {
    root: FIXTURE,
    configFile: false,
    logLevel: 'error',
    plugins: [sluice(options)],
    resolve: {
      alias: {
        '@sluice/browser/navigate': fileURLToPath(new URL('../../src/runtime/navigate.ts', import.meta.url)),
        '@sluice/render/state': fileURLToPath(
          new URL('../../../render/src/state/revive.ts', import.meta.url),
        ),
      },
    },
  };
}

/** Builds into a new folder in `beside`, which the caller removes. */
export async function build(
  options: SluiceOptions = {},
  { root = FIXTURE, beside = CACHE } = {},
): Promise<Built> {
  fs.mkdirSync(beside, { recursive: true });
  const folder = fs.mkdtempSync(path.join(beside, 'sluice-browser-'));
  const manifest = path.join(folder, 'sluice-assets.json');
  const outDir = (name: string) => ({ build: { outDir: path.join(folder, name), emptyOutDir: true } });
  const builder = await createBuilder({
    ...config({ ...options, manifest }),
    root,
    environments: { client: outDir('client'), ssr: outDir('server') },
  });
  await builder.buildApp();
  const components = new Map<string, () => Promise<{ default: unknown }>>();
  const server = (await import(pathToFileURL(path.join(folder, 'server/components.js')).href)) as {
    register(registry: Registering): void;
    readonly wrap: unknown;
  };
  server.register({
    lazy(name, load, _settings, { version }) {
      components.set(version === undefined ? name : `${name}@${version}`, load);
    },
  });
  return {
    folder,
    manifest,
    register: (registry) => server.register(registry as Registering),
    wrap: server.wrap,
    components,
    assets: JSON.parse(fs.readFileSync(manifest, 'utf8')) as Assets,
  };
}
