// Publishes results: copies the newest of a benchmark into `bench/results/published`, which the repository keeps, without single requests.
//
//   npx tsx bench/publish.ts schedule-mixed faults-matrix
import fs from 'node:fs';
import path from 'node:path';
import { repositoryDir } from '../tests/support/sluice.ts';

const results = path.join(import.meta.dirname, 'results');
const names = process.argv.slice(2);
if (names.length === 0) {
  console.error('usage: npx tsx bench/publish.ts NAME…, as in schedule-mixed faults-matrix');
  process.exit(2);
}
for (const name of names) {
  const newest = fs
    .readdirSync(results)
    .filter((file) => file.startsWith(`${name}-`) && file.endsWith('.json'))
    .sort()
    .at(-1);
  if (newest === undefined) {
    console.error(`bench/results has nothing of ${name}: run the benchmark first`);
    process.exit(1);
  }
  const whole: unknown = JSON.parse(fs.readFileSync(path.join(results, newest), 'utf8'));
  const target = path.join(results, 'published', `${name}.json`);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const short = JSON.stringify(whole, (key, value: unknown) => (key === 'samples' ? undefined : value), 1);
  // Where the repository lay says nothing.
  fs.writeFileSync(target, `${short.replaceAll(`${path.resolve(repositoryDir)}/`, '')}\n`);
  console.log(`${newest} is ${path.relative(process.cwd(), target)} now`);
}
