// Pages with a component that throws where the query says so, and one that never does.
import { createServer } from 'node:http';
import { createPages, createRegistry } from '@sluice/render';

const registry = createRegistry();
registry.register('Price', ({ fails }) => {
  if (fails) throw new Error('no price');
  return '<b>9</b>';
});
registry.register('Title', () => '<h1>Tea</h1>');
const pages = createPages({ registry, onError: () => {} });

createServer(async (request, response) => {
  const fails = request.url.includes('fails');
  const boxes = [{ component: 'Title' }, { component: 'Price', props: { fails } }];
  const page = await pages.render({ boxes }, {}, { delivery: 'whole' });
  const { outcomes } = await page.report;
  response.end(JSON.stringify(outcomes));
}).listen(process.env.PORT);
