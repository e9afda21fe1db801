// Renders a component that takes more CPU time than its budget, says what became of it, and exits after each page.
import { createServer } from 'node:http';
import { createPages, createRegistry } from '@sluice/render';

const registry = createRegistry();
registry.register(
  'Slow',
  () => {
    const begun = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(begun);
      if (user + system > 20_000) return '<p>slow</p>';
    }
  },
  { budgetMs: 5 },
);
const pages = createPages({ registry, overruns: { max: 3, suspendS: 600 } });

createServer(async (request, response) => {
  const page = await pages.render({ boxes: [{ component: 'Slow' }] }, {}, { delivery: 'whole' });
  const { boxes } = await page.report;
  response.once('close', () => setImmediate(() => process.exit(0)));
  response.end(JSON.stringify({ pid: process.pid, outcome: boxes[0]?.outcome }));
}).listen(process.env.PORT);
