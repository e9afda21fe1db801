/**
 * Renderers that are react-dom with one thing wrong each. A fuzzer that does not catch every one of them proves nothing
 * about the renderer that it is for.
 */

import { Transform, type Writable } from 'node:stream';
// A type only: loading that module would load React, before NODE_ENV is set.
import type { CHILD, COMPONENT, PathStep } from '../../src/facts/template.ts';
import type { TemplateOf } from './compiled.ts';
import type { Alteration } from './libraries.ts';
import type { Renderer } from './observe.ts';

type Edit = (html: string) => string;

/** Edits of the HTML, as a renderer with a small bug would write it. */
const edits: Readonly<Record<string, Edit>> = {
  'text not separated': (html) => html.replaceAll('<!-- -->', ''),
  'unitless style gets px': (html) =>
    html.replace(/(line-height|opacity|flex|order|scale):(\d+)(?=[;"])/, '$1:$2px'),
  'apostrophe left alone': (html) => html.replaceAll('&#x27;', "'"),
  'empty href dropped': (html) => html.replace(/(<a[^>]*) href=""/, '$1'),
  'useId counts from one': (html) => html.replace(/for="(_R_|«R|:R)([0-9a-v]+)/, 'for="$1$21'),
  'javascript URL kept': (html) => html.replace(/javascript:throw new Error\([^"]*"/, 'javascript:alert(1)"'),
  'boolean attribute with value': (html) => html.replace(/ (hidden|disabled|inert|open)=""/, ' $1="true"'),
  'no newline before textarea text': (html) => html.replace(/(<textarea[^>]*>)\n\n/, '$1\n'),
  'option never selected': (html) => html.replace(' selected=""', ''),
  'pre without leading newline': (html) => html.replace(/(<pre[^>]*>)\n/, '$1'),
  'no preload for images': (html) => html.replace(/<link rel="preload" as="image"[^>]*>/, ''),
  'hoistables in place': (html) => html.replace(/^(<title>[^<]*<\/title>)(<[a-z]+[^>]*>)/, '$2$1'),
  'Suspense without markers': (html) => html.replace('<!--$-->', ''),
  'error without digest': (html) => html.replace(/ data-dgst="[^"]*"/, ''),
  'activity without markers': (html) => html.replace('<!--&-->', ''),
  'hidden fields forgotten': (html) => html.replace(/<input type="hidden"[^>]*>/, ''),
  'form state without marker': (html) => html.replace('<!--F!-->', '').replace('<!--F-->', ''),
  'custom element attribute in lower case': (html) =>
    html.replace(
      /(<(?:my-element|x-|a-b-c)[^>]*? )([a-z]*[A-Z]\w*)=/,
      (_all, before: string, name: string) => `${before}${name.toLowerCase()}=`,
    ),
  'stylesheet without precedence': (html) => html.replace(/ data-precedence="[^"]*"/, ''),
  'nonce forgotten': (html) => html.replace(/ nonce="[^"]*"/, ''),
  'doctype forgotten': (html) => html.replace('<!DOCTYPE html>', ''),
  'svg attribute in camel case': (html) => html.replace('stroke-width', 'strokeWidth'),
  'boundary revealed by another id': (html) => html.replace(/\$RC\("B:/, '$RC("b:'),
};

/** Changes of how a caller is told, which the HTML does not show. */
const manners: Readonly<Record<string, (stock: Renderer) => Renderer>> = {
  'error message lost': (stock) => ({
    ...stock,
    renderToString: (children, options) => renamingErrors(() => stock.renderToString(children, options)),
    renderToStaticMarkup: (children, options) =>
      renamingErrors(() => stock.renderToStaticMarkup(children, options)),
  }),
  'onError not called': (stock) =>
    withOptions(stock, (options) => ({ ...options, onError: () => undefined })),
  'shell announced late': (stock) =>
    withOptions(stock, (options) => ({ ...options, onShellReady: undefined, onAllReady: both(options) })),
  'headers forgotten': (stock) => withOptions(stock, (options) => ({ ...options, onHeaders: undefined })),
  'identifierPrefix ignored': (stock) =>
    withOptions(stock, (options) => ({ ...options, identifierPrefix: undefined })),
  'bytes held back until the end': (stock) => ({
    ...stock,
    renderToPipeableStream(children, options) {
      const { pipe, abort } = stock.renderToPipeableStream(children, options);
      return { abort, pipe: (destination) => (pipe(holding(destination)), destination) };
    },
  }),
  'last byte lost': (stock) => ({
    ...stock,
    renderToPipeableStream(children, options) {
      const { pipe, abort } = stock.renderToPipeableStream(children, options);
      return {
        abort,
        pipe: (destination) => (pipe(editing(destination, (html) => html.slice(0, -1))), destination),
      };
    },
  }),
};

/** No mutants: these must not differ from react-dom, or the comparison sees what is not there. */
export const faithful = ['react-dom itself', 'wrapped, and nothing edited'];

export const mutants: Readonly<Record<string, (stock: Renderer) => Renderer>> = {
  'react-dom itself': (stock) => stock,
  'wrapped, and nothing edited': (stock) => edited(stock, (html) => html),
  ...Object.fromEntries(
    Object.entries(edits).map(([name, edit]) => [name, (stock: Renderer) => edited(stock, edit)]),
  ),
  ...manners,
};

const child: typeof CHILD = 0;
const component: typeof COMPONENT = 3;

/** Compilers with a fault; the renderer is Sluice itself. */
export const templateMutants: Readonly<Record<string, (template: TemplateOf) => TemplateOf>> = {
  'static texts not separated': (template) => (builtWith, pieces, holes, build) =>
    template(
      builtWith,
      pieces.map((piece) => piece.replaceAll('<!-- -->', '')),
      holes,
      build,
    ),
  'text behind a hole forgotten': (template) => (builtWith, pieces, holes, build) =>
    template(
      builtWith,
      pieces,
      holes.map((hole) => (hole[0] === child ? hole.with(2, 0) : hole)),
      build,
    ),
  'a hole takes itself for an only child': (template) => (builtWith, pieces, holes, build) =>
    template(
      builtWith,
      pieces,
      holes.map((hole) => (hole[0] === child ? hole.with(3, alone(hole[3] as PathStep[])) : hole)),
      build,
    ),
  'text behind a component forgotten': (template) => (builtWith, pieces, holes, build) =>
    template(
      builtWith,
      pieces,
      holes.map((hole) => (hole[0] === component ? hole.with(2, 0) : hole)),
      build,
    ),
  'a component takes itself for an only child': (template) => (builtWith, pieces, holes, build) =>
    template(
      builtWith,
      pieces,
      holes.map((hole) => (hole[0] === component ? hole.with(3, alone(hole[3] as PathStep[])) : hole)),
      build,
    ),
  'a static attribute lost': (template) => (builtWith, pieces, holes, build) =>
    template(
      builtWith,
      pieces.map((piece) => piece.replace(/ title="[^"]*"/, '')),
      holes,
      build,
    ),
};

/** Sluice with a component cache that has a fault. */
export const cacheMutants: Readonly<Record<string, Alteration>> = {
  'a context that was read does not count': [
    'cache/cacheable.js',
    'if (!isSame(value, readSilently(context)))',
    'if (false)',
  ],
  'what is in a context does not count': [
    'cache/snapshots.js',
    'isSame(before.values[at], value[key])',
    'true',
  ],
  'a context that was read in something kept is forgotten around it': [
    'cache/recording.js',
    'this.read(context);',
    '',
  ],
  'ids come back at another place': [
    'cache/cacheable.js',
    'entry.usesIds && !isSamePlace(entry, render)',
    'false',
  ],
  'ids come back with another prefix': [
    'cache/cacheable.js',
    ' && idPrefix === render.resources.idPrefix',
    '',
  ],
  'ids in something kept are forgotten around it': [
    'cache/recording.js',
    'this.usesIds ||= inner.usesIds;',
    '',
  ],
  'static markup comes back in a string': ['cache/cacheable.js', 'entry.mode !== mode || ', ''],
  'text before it does not count': [
    'cache/cacheable.js',
    ' || entry.startsAfterText !== startsAfterText',
    '',
  ],
  'text at its end is forgotten': ['cache/cacheable.js', 'render.lastText = entry.lastText;', ''],
  'the namespace does not count': ['cache/cacheable.js', 'entry.format.mode !== format.mode || ', ''],
  'what is around it does not count': ['cache/cacheable.js', ' || entry.format.scope !== format.scope', ''],
  'the selected option does not count': [
    'cache/cacheable.js',
    '!isSame(entry.selected, format.selected)',
    'false',
  ],
  'what belongs to the document does not come back': ['cache/cacheable.js', 'effect.again(render);', ';'],
  'what belongs to the document is forgotten around something kept': [
    'cache/recording.js',
    'for (const effect of inner.effects)',
    'for (const effect of [])',
  ],
  'what is over comes back': ['cache/component-cache.js', 'entry.expires_at_ms > now_ms && ', ''],
  'what is over comes back within something kept': [
    'cache/recording.js',
    'this.expires_at_ms = Math.min',
    'Math.min',
  ],
  'what is purged comes back': [
    'cache/component-cache.js',
    'tag === undefined || tags.has(tag)',
    'tag === undefined',
  ],
  'components share their keys': ['cache/cacheable.js', '`${copy}${numberOf(type)} ${own}`', '`${own}`'],
  'what must not be kept is kept': ['cache/recording.js', '!this.failed && ', ''],
  'what must not be kept is kept around something': [
    'cache/cacheable.js',
    'parent.failed ||= recording.failed;',
    '',
  ],
  'HTML without the holes in it comes back': ['cache/recording.js', '!isOneString || ', ''],
  'a posted form does not count': ['cache/cacheable.js', 'render.formState === null && ', ''],
};

function alone(path: readonly PathStep[]): readonly PathStep[] {
  return path.map(([tag, key], at) => [tag, key, 1, path[at]?.[3] ?? 0]);
}

function edited(stock: Renderer, edit: Edit): Renderer {
  return {
    ...stock,
    renderToString: (children, options) => edit(stock.renderToString(children, options)),
    renderToStaticMarkup: (children, options) => edit(stock.renderToStaticMarkup(children, options)),
    renderToPipeableStream(children, options) {
      const { pipe, abort } = stock.renderToPipeableStream(children, options);
      return { abort, pipe: (destination) => (pipe(editing(destination, edit)), destination) };
    },
  };
}

type Options = Record<string, unknown>;

function withOptions(stock: Renderer, change: (options: Options) => Options): Renderer {
  const changed = (options: object | undefined) => change((options ?? {}) as Options);
  return {
    ...stock,
    renderToString: (children, options) => stock.renderToString(children, changed(options)),
    renderToPipeableStream: (children, options) => stock.renderToPipeableStream(children, changed(options)),
    ...(stock.renderToReadableStream === undefined
      ? {}
      : {
          renderToReadableStream: (children, options) =>
            stock.renderToReadableStream?.(children, changed(options)) as never,
        }),
  };
}

function both(options: Options): () => void {
  return () => {
    (options['onShellReady'] as () => void)();
    (options['onAllReady'] as () => void)();
  };
}

function renamingErrors<T>(render: () => T): T {
  try {
    return render();
  } catch {
    throw new Error('An error occurred.');
  }
}

/** Edits what is written between two flushes. */
function editing(destination: Writable, edit: Edit): Writable {
  let held = '';
  const pass = (): void => {
    if (held === '') return;
    destination.write(edit(held));
    held = '';
  };
  const editor = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held += chunk.toString();
      done();
    },
    final(done) {
      pass();
      destination.end();
      done();
    },
  }).resume();
  const hold = editor.write.bind(editor) as (...chunk: unknown[]) => boolean;
  destination.on('drain', () => editor.emit('drain'));
  return Object.assign(editor, {
    /** A destination that is full is full for the one who writes. */
    write(...chunk: unknown[]): boolean {
      hold(...chunk);
      return destination.write(Buffer.alloc(0));
    },
    flush() {
      pass();
      (destination as Writable & { flush?: () => void }).flush?.();
    },
  });
}

function holding(destination: Writable): Writable {
  const editor = editing(destination, (html) => html);
  return Object.assign(editor, { flush: () => undefined });
}
