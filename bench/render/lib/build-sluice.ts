// Builds the boxes of `sluice/components/` for Sluice as an app does: by Vite with the plugin of `@sluice/browser`.
import path from 'node:path';
import sluice from '@sluice/browser/vite';
import { createBuilder } from 'vite';
import { built } from './build.ts';

/** What the build leaves. */
export const sluiceBuild = {
  /** What browsers are sent, by the gateway. */
  client: built('sluice/client'),
  /** Registers all components. */
  components: built('sluice/server/components.js'),
  manifest: built('sluice/sluice-assets.json'),
};

export async function buildSluice(): Promise<void> {
  const outDir = (dir: string) => ({ build: { outDir: dir, emptyOutDir: true } });
  const builder = await createBuilder({
    root: path.join(import.meta.dirname, '../sluice'),
    configFile: false,
    logLevel: 'error',
    mode: 'production',
    plugins: [sluice({ manifest: sluiceBuild.manifest })],
    environments: {
      client: outDir(sluiceBuild.client),
      ssr: outDir(path.dirname(sluiceBuild.components)),
    },
  });
  await builder.buildApp();
}
