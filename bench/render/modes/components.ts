// The cost of a thousand components of which a page uses sixty: time until the process is ready, and memory, against sixty alone.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Options } from '../../lib/options.ts';
import { type Bar, median, mebibytes, printTable, short } from '../../lib/report.ts';
import { temporaryDir } from '../../lib/run.ts';
import { built } from '../lib/build.ts';
import type { RegistryFigures } from '../lib/figures.ts';

const MANY = 1_000;
const FEW = 60;
const READY_MS_MAX = 50;
/** Part of what components take when they are used that they may take when they are not. */
const UNUSED_MAX = 0.05;
const RUN_TIMEOUT_MS = 60_000;

interface Case {
  name: string;
  from: 'code' | 'files';
  count: number;
  used: number;
}

export function measureComponents(options: Options): { bars: Bar[]; data: unknown } {
  const folders = new Map([FEW, MANY].map((count) => [count, folderOf(count)]));
  const cases: Case[] = (['code', 'files'] as const).flatMap((from) => [
    { name: `${FEW} from ${from}`, from, count: FEW, used: FEW },
    { name: `${MANY} from ${from}, ${FEW} used`, from, count: MANY, used: FEW },
    { name: `${MANY} from ${from}, all used`, from, count: MANY, used: MANY },
  ]);
  const figures = new Map<string, RegistryFigures[]>(cases.map(({ name }) => [name, []]));
  // Turns within a round; the first round fills the kernel's caches.
  for (let round = 0; round <= options.runs; round += 1)
    for (const each of cases) {
      const measured = run(folders.get(each.count) ?? '', each);
      if (round > 0) figures.get(each.name)?.push(measured);
    }

  const of = (name: string, figure: (figures: RegistryFigures) => number): number =>
    median((figures.get(name) ?? []).map(figure));
  printTable(
    ['components', 'ready ms', 'loaded', 'heap'],
    cases.map(({ name }) => [
      name,
      short(of(name, (each) => each.ready_ms)),
      of(name, (each) => each.loaded),
      mebibytes(of(name, (each) => each.heap_bytes)),
    ]),
  );
  const bars = (['code', 'files'] as const).flatMap((from): Bar[] => {
    const [few, some, all] = cases.filter((each) => each.from === from).map(({ name }) => name);
    if (few === undefined || some === undefined || all === undefined) return [];
    const later_ms = of(some, (each) => each.ready_ms) - of(few, (each) => each.ready_ms);
    const heap = (name: string): number => of(name, (each) => each.heap_bytes);
    const share = (heap(some) - heap(few)) / (heap(all) - heap(few));
    const loaded = of(some, (each) => each.loaded);
    return [
      {
        what: `start with ${MANY} components from ${from} against ${FEW}`,
        bar: `≤ ${READY_MS_MAX} ms later`,
        figure: `${short(later_ms)} ms`,
        met: later_ms <= READY_MS_MAX,
      },
      {
        what: `components loaded of ${MANY} from ${from}, ${FEW} used`,
        bar: String(FEW),
        figure: String(loaded),
        met: loaded === FEW,
      },
      {
        what: `memory of those from ${from} that are not used, of what they take when they are`,
        bar: `≤ ${UNUSED_MAX * 100} %`,
        figure: `${short(share * 100)} %`,
        met: share <= UNUSED_MAX,
      },
    ];
  });
  return { bars, data: Object.fromEntries(figures) };
}

function run(folder: string, { from, count, used }: Case): RegistryFigures {
  const args = ['--expose-gc', built('registry.mjs'), folder, from, String(count), String(used)];
  const env = { ...process.env, NODE_ENV: 'production' };
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', env, timeout: RUN_TIMEOUT_MS });
  return JSON.parse(output) as RegistryFigures;
}

/** Components of a few kilobytes with text of their own, as many as are to be registered. */
function folderOf(count: number): string {
  const folder = temporaryDir('slu-components-');
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const components = path.join(folder, 'components');
  fs.mkdirSync(components);
  for (let at = 0; at < count; at += 1) {
    const name = `part-${String(at).padStart(4, '0')}`;
    const text = Array.from(
      { length: 40 },
      (_, line) => `  \`<p class="${name}-${line}">\${props.title} ${line * at}</p>\`,`,
    );
    fs.writeFileSync(
      path.join(components, `${name}.js`),
      `globalThis.componentsLoaded += 1;\nexport default (props) => [\n${text.join('\n')}\n].join('');\n`,
    );
  }
  return components;
}
