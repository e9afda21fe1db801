// The listing as a page of Sluice: a tree of 60 boxes, each a component of the registry that Vite has built. It runs under the gateway, which
// sends the files for browsers itself.
//
// BAD names what is wrong with the first banner, if anything: see `bad.ts`. CACHED names a component whose HTML is used again for equal props.
import { pathToFileURL } from 'node:url';
import {
  createPages,
  createRegistry,
  createServer,
  type Handler,
  type Registry,
  respond,
  styleHandler,
} from '@sluice/render';
import { react } from '@sluice/render/react';
import { listing } from '../shop/data';
import { BAD_BOX, registerBad } from '../sluice/bad';
import { listingTree } from '../sluice/tree';

const {
  BAD: bad = '',
  CACHED: cached = '',
  COMPONENTS = '',
  MANIFEST = '',
  REMOTE_URL: remote_url = '',
} = process.env;

const registry = createRegistry({ adapters: [react()] });
const build = (await import(pathToFileURL(COMPONENTS).href)) as { register(registry: Registry): void };
const lazy: Registry['lazy'] = (name, load, settings, options) =>
  registry.lazy(
    name,
    load,
    name === cached ? ({ ...settings, cacheKey: 'props' } as unknown as typeof settings) : settings,
    options,
  );
build.register({ ...registry, lazy });
if (bad !== '') registerBad(registry, bad, remote_url);
const tree = listingTree(bad === '' ? 'Promo' : BAD_BOX);

const pages = createPages({
  registry,
  assets: MANIFEST,
  sources: {
    functions: {
      listing: (_args, { request }) => {
        const { searchParams } = new URL(request?.url ?? '/', 'http://page.invalid');
        return listing(Number(searchParams.get('page')));
      },
    },
  },
});
await pages.preload(registry.names());

const page: Handler = async (request, response) => {
  if (request.url?.startsWith('/listing') !== true) return false;
  await respond(pages, request, response, tree);
  return true;
};
createServer([page, styleHandler(pages)]).listen(Number(process.env['PORT']));
