// Builds the boxes of `sluice/components/` for Sluice as an app does: by Vite with the plugin of `@sluice/browser`.
import path from 'node:path';
import sluice from '@sluice/browser/vite';
import templates from '@sluice/compiler/vite';
import { createBuilder, type PluginOption } from 'vite';
import { built } from './build.ts';

/** Output of a build. */
export interface SluiceBuild {
  /** Directory of files that the gateway sends to browsers. */
  client: string;
  /** Registers all components. */
  components: string;
  manifest: string;
}

export const sluiceBuild: SluiceBuild = buildIn('sluice');
/** The same with the server's JSX compiled to templates by `@sluice/compiler`. */
export const compiledBuild: SluiceBuild = buildIn('sluice-compiled');

function buildIn(folder: string): SluiceBuild {
  return {
    client: built(`${folder}/client`),
    components: built(`${folder}/server/components.js`),
    manifest: built(`${folder}/sluice-assets.json`),
  };
}

export async function buildSluice(): Promise<void> {
  await buildTo(sluiceBuild, []);
  await buildTo(compiledBuild, [templates()]);
}

async function buildTo(
  { client, components, manifest }: SluiceBuild,
  plugins: PluginOption[],
): Promise<void> {
  const outDir = (dir: string) => ({ build: { outDir: dir, emptyOutDir: true } });
  const builder = await createBuilder({
    root: path.join(import.meta.dirname, '../sluice'),
    configFile: false,
    logLevel: 'error',
    mode: 'production',
    plugins: [...plugins, sluice({ manifest })],
    environments: {
      client: outDir(client),
      ssr: outDir(path.dirname(components)),
    },
  });
  await builder.buildApp();
}
