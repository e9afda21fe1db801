/** The components of this folder as fragments: `POST /batch`. Sluice runs as many of these processes as there are cores. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFragments, createServer, registryFromFiles } from '@sluice/render';
import { react } from '@sluice/render/react';

const components = path.join(path.dirname(fileURLToPath(import.meta.url)), 'components');
const registry = await registryFromFiles(components, { adapters: [react()] });
const fragments = createFragments({ registry });
createServer(fragments.handle).listen(Number(process.env['PORT'] ?? 3000));
