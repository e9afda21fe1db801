// The four architectures, as whoever runs them would start them. Each has as many threads that render as there are cores.
import path from 'node:path';
import { freePort } from '../../../tests/support/ports.ts';
import { installFromNpm, versionIn } from '../../lib/npm.ts';
import { answering, local, pidOf, run, stopAll } from '../../lib/run.ts';
import { nodeEnvironment, type Server, startDirect, startSluiceServer } from '../../lib/servers.ts';
import { built } from './build.ts';
import { compiledBuild, type SluiceBuild, sluiceBuild } from './build-sluice.ts';

export interface Peer {
  name: string;
  /** Servers in front of the rendering processes, and the number of these processes. */
  footing: string;
  start(workers: number): Promise<Server>;
}

/** The gateway as it is installed: its settings are the defaults, and it sends the files for browsers. `env` is for the app. */
export const sluice = (env: Record<string, string> = {}): Peer => sluiceOf('Sluice', sluiceBuild, env);

/** The same with the components compiled to templates. */
export const sluiceCompiled: Peer = sluiceOf('Sluice, compiled', compiledBuild);

/** The same with a key for cards, whose HTML is then used again wherever a card's props are the same. */
export const sluiceCached: Peer = sluiceOf('Sluice, cards cached', sluiceBuild, { CACHED: 'Card' });

function sluiceOf(name: string, build: SluiceBuild, env: Record<string, string> = {}): Peer {
  return {
    name,
    footing: 'a worker a core behind the gateway, whose CPU time counts',
    start: (workers) =>
      startSluiceServer(
        { entry: built('sluice.mjs'), workers },
        {
          config: `[files]\npaths = { "/assets/" = ${JSON.stringify(`${build.client}/assets`)} }\n`,
          env: { COMPONENTS: build.components, MANIFEST: build.manifest, ...env },
        },
      ),
  };
}

const production = { NODE_ENV: 'production' };

/** Express with the renderer that costs least, and with the one that streams. */
export const express = expressWith('renderToString', 'string');
export const expressStream = expressWith('renderToPipeableStream', 'stream');

function expressWith(renderer: string, RENDERER: string): Peer {
  return {
    name: `Express, ${renderer}`,
    footing: 'a Node process a core, no front: clients spread themselves',
    start: (workers) =>
      startDirect({ entry: built('express.mjs'), workers, env: { ...production, RENDERER } }),
  };
}

/** `entry`: the server of Next's standalone output. */
export const next = (entry: string): Peer => ({
  name: 'Next.js standalone',
  footing: 'a Node process a core, no front: clients spread themselves',
  start: (workers) => startDirect({ entry, workers, env: { ...production, HOSTNAME: '127.0.0.1' } }),
});

const workerNodesDir = (): string =>
  installFromNpm('worker-nodes', ['worker-nodes@2.7.0'], 'worker-nodes/package.json');

export const workerNodesVersion = (): string => versionIn(workerNodesDir(), 'worker-nodes');

export const workerNodes: Peer = {
  name: 'Express, worker-nodes',
  footing: 'one Node process that sends data to a thread a core, no front',
  start: async (workers) => {
    const port = await freePort();
    const env = { ...production, THREADS: String(workers), WORKER_NODES_DIR: workerNodesDir() };
    const app = { entry: built('worker-nodes.mjs'), workers, env };
    const child = run(process.execPath, [app.entry], nodeEnvironment(app, port));
    await answering(port, child);
    return {
      name: path.basename(app.entry),
      targets: [local(port)],
      frontPids: [],
      workerPids: () => Promise.resolve([pidOf(child)]),
      stop: () => stopAll([child]),
    };
  },
};
