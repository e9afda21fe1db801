// The same listing page of 60 boxes on four architectures, from one set of React components and one generator of data: Sluice, Express with
// `renderToPipeableStream`, Next.js standalone, and threads of worker-nodes that render behind Express.
//
//   npx tsx bench/render.ts [--mode pages|bad-box|components|times|browser] [--quick] [--runs N] [--only sluice,express,next,worker-nodes]
//                           [--requests N] [--connections N] [--seconds N]
//
// `pages` and `browser` compare; the other modes measure Sluice against its bars. See bench/README.md.
import { buildGenerator } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { conclude, describe } from './lib/report.ts';
import { build, buildNext, nextVersion } from './render/lib/build.ts';
import { express, next, type Peer, workerNodes, workerNodesVersion } from './render/lib/servers.ts';
import { measurePages } from './render/modes/pages.ts';

const options = readOptions({
  runs: 7,
  runsQuick: 1,
  workers: cores,
  words: { mode: ['pages', 'bad-box', 'components', 'times', 'browser'] },
  numbers: { requests: [2_000, 200], connections: [8, 8], seconds: [20, 4] },
});
buildGenerator();
await build();
const wanted = (key: string): boolean => options.only.length === 0 || options.only.includes(key);
const peers: Record<string, Peer> = {};
if (wanted('express')) peers['express'] = express;
if (wanted('worker-nodes')) peers['worker-nodes'] = workerNodes;
if (wanted('next')) peers['next'] = next(await buildNext());
const about = {
  ...describe(`A page of 60 boxes: ${options.words['mode'] ?? ''}`, options),
  ...(wanted('next') ? { next: nextVersion() } : {}),
  ...(wanted('worker-nodes') ? { 'worker-nodes': workerNodesVersion() } : {}),
};
const { bars, data } = await measurePages(options, peers);
conclude('render', options, about, bars, data);
