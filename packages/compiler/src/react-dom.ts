/**
 * The app's own react-dom, asked at build time how it writes an attribute. So a template holds what that version of
 * React writes, with all its rules, and the compiler has no table of them that could be wrong or old.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LINES, lineOf } from '@sluice/react/lines';

export interface ReactDom {
  readonly version: string;
  /**
   * The attribute as it stands in the start tag, with a space in front; empty where React writes none.
   * Throws what react-dom throws for that value.
   */
  attribute(tag: string, name: string, value: unknown): string;
}

/** The parts of `react-dom/server` and `react` in use here. */
interface Server {
  readonly version: string;
  renderToStaticMarkup(element: unknown): string;
}
interface React {
  createElement(type: string, props: Record<string, unknown>): unknown;
}

export class UnknownReactError extends Error {
  override readonly name = 'UnknownReactError';
  constructor(version: string) {
    super(
      `React ${version} is not supported by @sluice/compiler (supported: ${LINES.join(', ')}): nothing is compiled.`,
    );
  }
}

const loaded = new Map<string, ReactDom>();
const resolved = new Map<string, string>();

/**
 * The react-dom that a file in one of these directories would import: the first that finds one. A package of a monorepo
 * may leave it to the app.
 *
 * Throws `UnknownReactError` for a version without rules here, and Node's resolution error where there is none.
 */
export function reactDomFor(directories: readonly string[]): ReactDom {
  const key = directories.join('\n');
  let path = resolved.get(key);
  if (path === undefined) {
    path = createRequire(import.meta.url).resolve('react-dom/server', { paths: [...directories] });
    resolved.set(key, path);
  }
  let reactDom = loaded.get(path);
  if (reactDom === undefined) {
    reactDom = load(path);
    loaded.set(path, reactDom);
  }
  return reactDom;
}

function load(path: string): ReactDom {
  const require = createRequire(pathToFileURL(join(dirname(path), 'noop.js')));
  const { react, server } = inProduction(() => ({
    react: require('react') as React,
    server: require(path) as Server,
  }));
  const { version } = server;
  // The rules for tags (`tags.ts`) were checked for the lines that are known.
  if (lineOf(version) === undefined) {
    throw new UnknownReactError(version);
  }
  const written = new Map<string, string>();

  return {
    version,
    attribute(tag, name, value) {
      // An image could emit a preload link as well. A source is written by the same rules, without one.
      const type = tag === 'img' ? 'source' : tag;
      const key = `${type} ${name} ${typeof value} ${JSON.stringify(value)}`;
      let html = written.get(key);
      if (html === undefined) {
        const markup = server.renderToStaticMarkup(react.createElement(type, { [name]: value }));
        html = markup.slice(type.length + 1, markup.endsWith('/>') ? -2 : -(type.length + 4));
        written.set(key, html);
      }
      return html;
    },
  };
}

/** React's packages choose their build by NODE_ENV when they load; the development one would warn into the build's log. */
function inProduction<T>(load: () => T): T {
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  try {
    return load();
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
}
