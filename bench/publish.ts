// Publishes results: copies the newest of a benchmark into `bench/results/published`, which the repository keeps, without single requests.
// A quick run is refused, and so are cells of faults that compare unlike things.
//
//   npx tsx bench/publish.ts schedule-mixed faults-cells
import path from 'node:path';
import { repositoryDir } from '../tests/support/sluice.ts';
import { Unpublishable, publish } from './lib/published.ts';

const names = process.argv.slice(2);
if (names.length === 0) {
  console.error('usage: npx tsx bench/publish.ts NAME…, as in schedule-mixed faults-cells');
  process.exit(2);
}
for (const name of names) {
  try {
    const { source, target } = publish(name, path.join(import.meta.dirname, 'results'), repositoryDir);
    console.log(`${source} is ${path.relative(process.cwd(), target)} now`);
  } catch (error) {
    if (!(error instanceof Unpublishable)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
