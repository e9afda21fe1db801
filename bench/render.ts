// The same listing page of 60 boxes on four architectures, from one set of React components and one generator of data: Sluice, Express with
// `renderToString` and with `renderToPipeableStream`, Next.js standalone, and threads of worker-nodes that render behind Express.
//
//   npx tsx bench/render.ts [--mode pages|batch|bad-box|components|times|browser] [--quick] [--runs N] [--only sluice,sluice-compiled,sluice-cached,express,express-stream,next,worker-nodes]
//                           [--requests N] [--connections N] [--seconds N]
//
// `pages`, `batch` and `browser` compare; the other modes measure Sluice against its bars. See bench/README.md.
import { buildGenerator } from './lib/load.ts';
import { cores, readOptions } from './lib/options.ts';
import { type Bar, conclude, describe } from './lib/report.ts';
import { build, buildNext, nextVersion } from './render/lib/build.ts';
import { buildSluice } from './render/lib/build-sluice.ts';
import {
  express,
  expressStream,
  next,
  type Peer,
  sluice,
  sluiceCached,
  sluiceCompiled,
  workerNodes,
  workerNodesVersion,
} from './render/lib/servers.ts';
import { measureBatches } from './render/modes/batch.ts';
import { measureBadBox } from './render/modes/bad-box.ts';
import { measureComponents } from './render/modes/components.ts';
import { measureInBrowser } from './render/modes/browser.ts';
import { measurePages } from './render/modes/pages.ts';
import { measureTimes } from './render/modes/times.ts';

const COMPARING = ['pages', 'browser'];

const options = readOptions({
  runs: 7,
  runsQuick: 1,
  workers: cores,
  words: { mode: ['pages', 'batch', 'bad-box', 'components', 'times', 'browser'] },
  numbers: { requests: [2_000, 200], connections: [8, 8], seconds: [20, 4] },
});
const { mode = '' } = options.words;
buildGenerator();
await Promise.all([build(), buildSluice()]);
const peers = COMPARING.includes(mode) ? await peersOf(options.only) : {};
const about = {
  ...describe(`A page of 60 boxes: ${mode}`, options),
  ...('next' in peers ? { next: nextVersion() } : {}),
  ...('worker-nodes' in peers ? { 'worker-nodes': workerNodesVersion() } : {}),
};
const { bars, data } = await measured();
conclude(`render-${mode}`, options, about, bars, data);

async function measured(): Promise<{ bars: Bar[]; data: unknown }> {
  if (mode === 'batch') return measureBatches(options);
  if (mode === 'bad-box') return measureBadBox(options);
  if (mode === 'components') return measureComponents(options);
  if (mode === 'times') return measureTimes(options);
  if (mode === 'browser') return measureInBrowser(options, peers);
  return measurePages(options, peers);
}

/** Peers by their short names. */
async function peersOf(only: string[]): Promise<Record<string, Peer>> {
  const isWanted = (key: string): boolean => only.length === 0 || only.includes(key);
  return {
    ...(isWanted('sluice') ? { sluice: sluice() } : {}),
    // Browsers get the same of all three.
    ...(isWanted('sluice-compiled') && mode === 'pages' ? { 'sluice-compiled': sluiceCompiled } : {}),
    ...(isWanted('sluice-cached') && mode === 'pages' ? { 'sluice-cached': sluiceCached } : {}),
    ...(isWanted('express') ? { express } : {}),
    ...(isWanted('express-stream') ? { 'express-stream': expressStream } : {}),
    ...(isWanted('worker-nodes') ? { 'worker-nodes': workerNodes } : {}),
    ...(isWanted('next') ? { next: next(await buildNext()) } : {}),
  };
}
