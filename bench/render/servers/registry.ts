// A process with so many components, some of which it uses: when it was ready, and what memory it needs. The folder has them as files.
//
//   node --expose-gc registry.mjs FOLDER code|files COUNT USED
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRegistry, createTaskQueue, registryFromFiles, type ComponentModule } from '@sluice/render';
import type { RegistryFigures } from '../lib/figures';

const [folder = '', from = '', count = '0', used = '0'] = process.argv.slice(2);
const counter = globalThis as { componentsLoaded?: number };
counter.componentsLoaded = 0;

const registry = from === 'files' ? await registryFromFiles(folder) : createRegistry();
if (from === 'code')
  for (const file of readdirSync(folder).sort()) {
    const load = (): Promise<ComponentModule> =>
      import(pathToFileURL(path.join(folder, file)).href) as Promise<ComponentModule>;
    registry.lazy(path.basename(file, '.js'), load);
  }
const ready_ms = performance.now();

const names = registry.names();
if (names.length !== Number(count)) throw new Error(`${names.length} components instead of ${count}`);
const queue = createTaskQueue();
for (const name of names.slice(0, Number(used))) {
  const component = await registry.find(name);
  if (component === undefined) throw new Error(`no component ${name}`);
  const slots = { names: [], html: () => '' };
  const result = await queue.run({
    component,
    props: { title: name },
    context: { id: name, slots },
  });
  if (!result.ok) throw result.error;
}
(globalThis as { gc?: () => void }).gc?.();
const figures: RegistryFigures = {
  ready_ms,
  loaded: counter.componentsLoaded,
  heap_bytes: process.memoryUsage().heapUsed,
};
console.log(JSON.stringify(figures));
// What keeps the registry alive until its memory has been read.
if (registry.names().length === 0) throw new Error('the registry is empty');
