/** The inline script that keeps early events, bundled and minified by the app's own Vite. */
import { createHash } from 'node:crypto';
import { build } from 'vite';
import type { EarlyScript } from './assets.js';
import { ownFile } from './modules.js';

const ENTRY = 'virtual:sluice/early';

/** `runtime` is the address of the script that takes over. */
export async function buildEarlyScript(runtime: string): Promise<EarlyScript> {
  const built = await build({
    configFile: false,
    envFile: false,
    logLevel: 'error',
    publicDir: false,
    plugins: [
      {
        name: 'sluice:early',
        resolveId: (id) => (id === ENTRY ? `\0${ENTRY}` : undefined),
        load: (id) =>
          id === `\0${ENTRY}`
            ? `import { holdEarlyEvents } from ${JSON.stringify(ownFile('runtime/early'))};\nholdEarlyEvents(${JSON.stringify(runtime)});`
            : undefined,
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rollupOptions: { input: ENTRY, output: { format: 'iife' } },
    },
  });
  const [chunk] = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
  if (chunk?.type !== 'chunk') throw new Error('Vite built no script that stores early events');
  // Inline, an end tag in it would end it.
  const code = chunk.code.trim().replaceAll('</', '<\\/');
  return { code, sha256: `sha256-${createHash('sha256').update(code).digest('base64')}` };
}
