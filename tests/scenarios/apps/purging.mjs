// Pages of parts that are cached by tag, and the purges of them. What a part shows is in the file DATA_FILE, which another test process changes.
// `react-dom/server` is the app's own; `LAZY=1` loads it, and `@sluice/react`, with the first request.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { beforeRequest, purge } from '@sluice/preload';
import { createPages, createRegistry, respond } from '@sluice/render';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const load = async () => {
  const { createElement, Suspense, use } = (await import('react')).default;
  const { renderToString, renderToPipeableStream } = (await import('react-dom/server')).default;
  const { Cached } = await import('@sluice/react');
  const { collectTags, purge: purgeParts } = await import('@sluice/react/server');
  return {
    h: createElement,
    Suspense,
    use,
    renderToString,
    renderToPipeableStream,
    Cached,
    collectTags,
    purgeParts,
  };
};
let loaded = process.env.LAZY === '1' ? undefined : await load();
// It counts nothing: an app with a hook is handed its requests later, in a context of its own.
beforeRequest(() => wait(0));

function part({ h, Cached }, tag) {
  const Part = () => h('b', null, `${tag}=${readFileSync(process.env.DATA_FILE, 'utf8').trim()}`);
  Part.displayName = tag;
  return h(Cached, { cacheKey: tag, tags: [tag] }, h(parts.get(tag) ?? parts.set(tag, Part).get(tag)));
}
/** The same component for a tag each time. */
const parts = new Map();

function streamed(lib, tag, response, ms) {
  const { h, Suspense, use, renderToPipeableStream } = lib;
  const waited = wait(ms);
  const Late = () => {
    use(waited);
    return part(lib, tag);
  };
  const page = h('main', null, part(lib, 'shell'), h(Suspense, { fallback: '…' }, h(Late)));
  const { pipe } = renderToPipeableStream(page, { onShellReady: () => pipe(response) });
}

const registry = createRegistry();
registry.register('Box', ({ tag }) => `<b>${tag}=${readFileSync(process.env.DATA_FILE, 'utf8').trim()}</b>`, {
  cacheKey: ({ tag }) => tag,
  cacheTags: ({ tag }) => [tag],
});
const pages = createPages({ registry });

createServer(async (request, response) => {
  loaded ??= await load();
  const { h, renderToString, collectTags, purgeParts } = loaded;
  const { pathname, searchParams } = new URL(request.url, 'http://app.test');
  const tag = searchParams.get('tag') ?? 'none';
  if (request.method === 'POST') {
    const count =
      pathname === '/purge-parts'
        ? purgeParts(tag)
        : await purge(JSON.parse(searchParams.get('pages'))).catch(
            (error) => `${error.name}: ${error.message}`,
          );
    return response.end(String(count));
  }
  response.setHeader('cache-control', 's-maxage=600');
  response.setHeader('content-type', 'text/html');
  const ms = Number(searchParams.get('ms') ?? 0);
  if (pathname === '/streamed') return streamed(loaded, tag, response, ms);
  await wait(ms);
  if (pathname.startsWith('/boxes')) {
    await respond(pages, request, response, { boxes: [{ component: 'Box', props: { tag } }] });
    return;
  }
  if (pathname === '/plain') return response.end('plain');
  const page = h('main', null, part(loaded, tag));
  if (pathname === '/collected') {
    const { result, tags } = collectTags(() => renderToString(page));
    return response.end(`${result} ${[...tags].join()}`);
  }
  return response.end(renderToString(page));
}).listen(process.env.PORT);
