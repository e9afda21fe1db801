/**
 * The host elements of a tree as JSX, put through `@sluice/compiler` as the build of an app would: `build.ts` makes these
 * instead of the elements that they were made of. Components among their children are JSX as well. What is neither stands in the holes.
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { transformAsync, type PluginItem } from '@babel/core';
import type { ReactNode } from 'react';
import sluiceTemplates from '../../../compiler/src/babel.js';
import type { ChildShape, Node, Prop, Value } from './description.ts';
import { loadModule, type Build } from './libraries.ts';

const jsxTransform = createRequire(import.meta.url).resolve('@babel/plugin-transform-react-jsx');
/** The same array each time: Babel remembers what it made of it. */
const plugins: PluginItem[] = [
  sluiceTemplates,
  // As `build.ts` does: `createElement` fills in defaults that `jsx` of React 19 does not.
  [jsxTransform, { runtime: 'classic', throwIfNamespace: false }],
];

/** What stands in a place of the JSX that is known at run time only. */
export type Place =
  | { readonly value: Value }
  | { readonly node: Node }
  | { readonly built: readonly Node[] }
  | { readonly shape: ChildShape; readonly of: readonly Node[] };

export interface CompiledElement {
  readonly places: readonly Place[];
  /** Calls `at` for each place, and reads `types` for each component's, in source order. */
  readonly make: (at: (place: number) => unknown, types: Types) => ReactNode;
}
/** Types of the elements that stand as JSX, by their place: `types.of3` is that of the node in place 3. */
export type Types = Readonly<Record<string, unknown>>;
export type CompiledTree = ReadonlyMap<Node, CompiledElement>;

/** `template` of `@sluice/react/template`. */
export type TemplateOf = (
  builtWith: string,
  pieces: readonly string[],
  holes: readonly (readonly unknown[])[],
  build: unknown,
) => unknown;

export interface Compiler {
  compiled(root: readonly Node[]): Promise<CompiledTree>;
  /** Of all trees so far. */
  templates(): number;
}

/** `folder`: whose React is compiled for. `build`: of the renderer. `change` makes a faulty compiler of it, for the tests of the tests. */
export async function loadCompiler(
  folder: string,
  build: Build = 'modules',
  change: (template: TemplateOf) => TemplateOf = (same) => same,
): Promise<Compiler> {
  const require = createRequire(join(folder, 'package.json'));
  const module = (await loadModule(folder, 'template', build)) as { template: TemplateOf };
  const template = change(module.template);
  let templates = 0;
  const counted: TemplateOf = (...args) => {
    templates += 1;
    return template(...args);
  };
  const resolve = (name: string): unknown =>
    name === '@sluice/react/template' ? { template: counted } : require(name);

  const evaluated = async (source: string): Promise<readonly CompiledElement['make'][]> => {
    const output = await transformAsync(`export default ${source};`, {
      filename: join(folder, 'app.jsx'),
      babelrc: false,
      configFile: false,
      compact: true,
      parserOpts: { plugins: ['jsx'] },
      plugins,
    });
    const code = (output?.code ?? '')
      .replaceAll(/import\s*{([^}]*)}\s*from\s*("[^"]*")/g, (_all, names: string, from: string) => {
        return `const {${names.replaceAll(' as ', ':')}}=resolve(${from})`;
      })
      .replace('export default', 'return');
    // oxlint-disable-next-line typescript/no-implied-eval -- The source is what was compiled just now.
    return new Function('resolve', 'React', code)(
      resolve,
      require('react'),
    ) as readonly CompiledElement['make'][];
  };

  return {
    templates: () => templates,
    async compiled(root) {
      const { sources, elements } = written(root);
      if (sources.length === 0) return new Map();
      const makers = await evaluated(`[\n${sources.map((jsx) => `(at, types) => ${jsx}`).join(',\n')}\n]`);
      return new Map(
        elements.map(({ node, places }, index) => {
          const make = makers[index];
          if (make === undefined) throw new Error(`the compiler lost ${sources[index]}`);
          return [node, { places, make }];
        }),
      );
    },
  };
}

interface Written {
  readonly sources: readonly string[];
  readonly elements: readonly { readonly node: Node; readonly places: readonly Place[] }[];
}

/** An expression for each host element that is not part of the JSX of another. */
function written(root: readonly Node[]): Written {
  const found = new Map<Node, { readonly jsx: string; readonly places: readonly Place[] }>();
  const visit = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      if (found.has(node)) continue;
      if (!isWritable(node)) visit(below(node));
      else {
        const writer = new Writer();
        const jsx = writer.element(node);
        found.set(node, { jsx, places: writer.places });
        visit(writer.others);
      }
    }
  };
  visit(root);
  const all = [...found];
  return {
    sources: all.map(([, { jsx }]) => jsx),
    elements: all.map(([node, { places }]) => ({ node, places })),
  };
}

function below(node: Node): readonly Node[] {
  const of = 'of' in node ? node.of : [];
  return node.k === 'suspense' ? [...node.fallback, ...of] : of;
}

type Element = Node & { readonly k: 'element' };

/** Capitals and dots would be components. */
function isWritable(node: Node): node is Element {
  return node.k === 'element' && /^[a-z][\w-]*$/.test(node.tag);
}

/** Which of the values that could stand in the source do: so that texts and holes meet in every order. */
const turns: readonly boolean[] = [true, true, false, false, true];

class Writer {
  readonly places: Place[] = [];
  /** In the holes: written on their own. */
  readonly others: Node[] = [];
  #literals = 0;

  element({ tag, props, shape, of }: Element): string {
    const attributes = single(props)
      .map((prop) => ` ${this.#attribute(prop)}`)
      .join('');
    if (of.length === 0) return `<${tag}${attributes} />`;
    return `<${tag}${attributes}>${this.#children(shape, of)}</${tag}>`;
  }

  #children(shape: ChildShape, of: readonly Node[]): string {
    if (shape === 'arguments') return of.map((node) => this.#child(node)).join('');
    this.others.push(...of);
    return `{${this.#at({ shape, of })}}`;
  }

  #child(node: Node): string {
    if (isWritable(node)) return this.element(node);
    const component = this.#component(node);
    if (component !== undefined) return component;
    if (node.k === 'wrap' && node.as === 'fragment' && node.key === undefined)
      return `<>${node.of.length === 0 ? '' : this.#children(node.shape, node.of)}</>`;
    if (node.k === 'text' || node.k === 'value') return `{${this.#value(node.v)}}`;
    this.others.push(node);
    return `{${this.#at({ node })}}`;
  }

  /** As `build.ts` makes it. Its children are written where they stand. */
  #component(node: Node): string | undefined {
    const tag = (): string => `types.of${this.#place({ node })}`;
    switch (node.k) {
      case 'component':
      case 'class':
        this.others.push(node);
        return `<${tag()} given="prop" maybe={undefined} />`;
      case 'throw':
      case 'throw-promise':
      case 'async-component':
      case 'legacy-context':
        this.others.push(node);
        return `<${tag()} />`;
      case 'provider': {
        const type = tag();
        return `<${type} value={${this.#value(node.v)}}>${this.#children('arguments', node.of)}</${type}>`;
      }
      case 'suspense': {
        const type = tag();
        const defer = node.defer === undefined ? '' : ` unstable_defer={${node.defer}} defer={${node.defer}}`;
        this.others.push(...node.fallback);
        const fallback = `fallback={${this.#at({ built: node.fallback })}}`;
        return `<${type} ${fallback}${defer}>${this.#children('arguments', node.of)}</${type}>`;
      }
      case 'text':
      case 'value':
      case 'element':
      case 'wrap':
      case 'consumer':
      case 'context-child':
      case 'lazy':
      case 'awaited':
      case 'portal':
      case 'bad-type':
      case 'twice':
      case 'kept':
        return undefined;
    }
  }

  #attribute([name, value]: Prop): string {
    if (/^[a-z_$][\w$-]*(:[a-z]+)?$/i.test(name)) return `${name}={${this.#value(value)}}`;
    return `{...{ ${JSON.stringify(name)}: ${this.#value(value)} }}`;
  }

  #value(value: Value): string {
    const literal = literalOf(value);
    if (literal === undefined) return this.#at({ value });
    const inSource = turns[this.#literals % turns.length];
    this.#literals += 1;
    return inSource === true ? literal : this.#at({ value });
  }

  #at(place: Place): string {
    return `at(${this.#place(place)})`;
  }

  #place(place: Place): number {
    return this.places.push(place) - 1;
  }
}

/** A name's first place and last value, as an object keeps it. Not every JSX transform does. */
function single(props: readonly Prop[]): Prop[] {
  return [...new Map(props)];
}

/** As JavaScript has it in a source; undefined where it has no literal for that. */
function literalOf(value: Value): string | undefined {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (value.$ === 'undefined') return 'undefined';
  if (value.$ === 'minus-zero') return '-0';
  if (value.$ !== 'object') return undefined;
  const properties = single(value.v).map(([name, each]) => {
    const literal = literalOf(each);
    return literal === undefined ? undefined : `${JSON.stringify(name)}: ${literal}`;
  });
  return properties.includes(undefined) ? undefined : `{ ${properties.join(', ')} }`;
}
