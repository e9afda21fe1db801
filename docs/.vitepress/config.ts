// The site made of docs/: what is found where. Links that leave docs/ are the business of source.ts.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { copySources, keepBraces, linkSources } from './source.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));

/** The pages of a folder by their titles; those named come first, in that order. */
function pagesOf(folder: string, first: readonly string[] = []): DefaultTheme.SidebarItem[] {
  const rank = (file: string): number => (first.indexOf(file) + 1 || first.length + 1) - 1;
  return fs
    .readdirSync(path.join(docs, folder))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.slice(0, -3))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .map((file) => ({ text: titleOf(`${folder}/${file}.md`), link: `/${folder}/${file}` }));
}

function titleOf(page: string): string {
  const title = /^# (.+)$/m.exec(fs.readFileSync(path.join(docs, page), 'utf8'))?.[1];
  if (title === undefined) throw new Error(`docs/${page} has no title`);
  return title.replaceAll('`', '');
}

const GUIDE = [
  'your-app',
  'scheduling',
  'operating',
  'seeing',
  'deploying',
  'many-machines',
  'behind-a-balancer',
  'limits-and-errors',
];
/** Pages that join the decisions which matter most stand before the records. */
const JOINED = [
  'one-request-at-a-time',
  'queue-by-cost',
  '0125-requests-that-wait',
  'no-lost-requests',
  'reload-and-upgrade',
  'one-core-thread',
  'page-cache-keys',
  'cpu-time-of-requests',
  'boxes-with-holes',
  'fast-react',
];
const RECIPES = ['express', 'fastify', 'nestjs', 'next', 'react-router', 'nuxt', 'sveltekit', 'astro'];

export default defineConfig({
  title: 'Sluice',
  description: 'Any Node server on every core, behind one queue that knows what requests cost.',
  lang: 'en',
  cleanUrls: true,
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  srcExclude: ['moving/files/**'],
  // A dead link fails the build.
  ignoreDeadLinks: false,
  metaChunk: true,
  markdown: {
    config(markdown) {
      linkSources(markdown);
      keepBraces(markdown);
    },
  },
  vite: { build: { chunkSizeWarningLimit: 1000 } },
  buildEnd: copySources,
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [
      { text: 'Start', link: '/guide/getting-started' },
      { text: 'Recipes', link: '/recipes/express' },
      { text: 'Moving', link: '/moving/pm2' },
      { text: 'Reference', link: '/reference/config' },
      { text: 'FAQ', link: '/faq' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    sidebar: [
      { text: 'Start', items: [{ text: 'Getting started', link: '/guide/getting-started' }] },
      { text: 'Recipes', items: pagesOf('recipes', RECIPES) },
      { text: 'Moving from', items: pagesOf('moving', ['pm2', 'node-cluster']) },
      {
        text: 'Guide',
        items: [
          ...pagesOf('guide', GUIDE).filter(({ link }) => link !== '/guide/getting-started'),
          { text: 'React on the server', link: '/react' },
        ],
      },
      {
        text: 'Help',
        items: [
          { text: 'Troubleshooting', link: '/troubleshooting' },
          { text: 'FAQ', link: '/faq' },
          { text: 'Glossary', link: '/glossary' },
        ],
      },
      { text: 'Reference', collapsed: true, items: pagesOf('reference', ['cli', 'config', 'errors']) },
      {
        text: 'Decisions',
        collapsed: true,
        items: [{ text: 'All', link: '/decisions/' }, ...pagesOf('decisions', JOINED)],
      },
    ],
  },
});
