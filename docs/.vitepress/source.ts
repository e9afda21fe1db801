// Links from pages to files that are no pages, such as ARCHITECTURE.md or an alert rule. They lead to copies of the
// files on the site, or to the repository where SITE_SOURCE_URL names it. A link to a file that is missing ends the build.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownRenderer, SiteConfig } from 'vitepress';

const docs = fileURLToPath(new URL('..', import.meta.url));
const repository = path.join(docs, '..');
const sourceUrl = process.env['SITE_SOURCE_URL'];
const copied = new Set<string>();

/** The file of the repository that a relative link names, if it is not a page of the site. */
function sourceOf(href: string, page: string): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return undefined;
  const target = path.resolve(path.dirname(path.join(docs, page)), decodeURI(href.replace(/[?#].*$/, '')));
  const inDocs = !path.relative(docs, target).startsWith('..');
  const isPage = target.endsWith('.md') && !target.startsWith(path.join(docs, 'moving/files'));
  if (inDocs && (isPage || !fs.existsSync(target) || fs.statSync(target).isDirectory())) return undefined;
  if (!fs.existsSync(target)) throw new Error(`docs/${page}: no file for the link ${href}`);
  return path.relative(
    repository,
    fs.statSync(target).isDirectory() ? path.join(target, 'README.md') : target,
  );
}

export function linkSources(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('sources', (state) => {
    const page = (state.env as { relativePath?: string }).relativePath ?? '';
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      const source = token.type === 'link_open' && sourceOf(token.attrGet('href') ?? '', page);
      if (source === false || source === undefined) continue;
      copied.add(source);
      token.attrSet('href', sourceUrl === undefined ? `/source/${source}.txt` : `${sourceUrl}/${source}`);
      token.attrSet('target', '_blank');
    }
  });
}

/** Pages are Markdown and no templates of Vue: braces are text, in sentences and in code spans. */
export function keepBraces({ renderer }: MarkdownRenderer): void {
  for (const kind of ['text', 'code_inline'] as const) {
    const rule = renderer.rules[kind];
    renderer.rules[kind] = (...given) => (rule?.(...given) ?? '').replaceAll('{{', '&#123;&#123;');
  }
}

/** Text has no type that a browser would rather run or download than show. */
export function copySources({ outDir }: SiteConfig): void {
  for (const source of copied) {
    const copy = path.join(outDir, 'source', `${source}.txt`);
    fs.mkdirSync(path.dirname(copy), { recursive: true });
    fs.copyFileSync(path.join(repository, source), copy);
  }
}
