/**
 * Files of styles: each is read and compiled once in a process, when the first component that names it is used. CSS Modules
 * get the names that the build for the browser gives them. It must not know components or sets.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FilesOptions, StyleFile } from './transform.js';

export class StyleFiles {
  readonly #options: FilesOptions;
  readonly #loading = new Map<string, Promise<StyleFile>>();
  readonly #loaded = new Map<string, StyleFile>();

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  get root(): string {
    return this.#options.root;
  }

  /** The file and all that it needs. Rejects where one cannot be read, or is no CSS at all; the next call tries again. */
  async load(file: string): Promise<void> {
    await this.#load(path.resolve(this.root, file), new Set());
  }

  /** A file that `load` has given. */
  get(file: string): StyleFile | undefined {
    return this.#loaded.get(path.resolve(this.root, file));
  }

  /** The files and all that they need, each once, what is needed before what needs it. */
  closure(files: readonly string[]): readonly StyleFile[] {
    const found = new Map<string, StyleFile | undefined>();
    const visit = (file: string): void => {
      if (found.has(file)) return;
      const style = this.#loaded.get(file);
      found.set(file, style); // Before its imports, so that a circle ends.
      for (const { file: needed } of style?.imports ?? []) visit(needed);
      found.delete(file);
      found.set(file, style);
    };
    for (const file of files) visit(path.resolve(this.root, file));
    return [...found.values()].filter((style) => style !== undefined);
  }

  async #load(file: string, above: ReadonlySet<string>): Promise<void> {
    if (above.has(file)) return;
    let loading = this.#loading.get(file);
    if (loading === undefined) {
      loading = this.#read(file);
      this.#loading.set(file, loading);
    }
    try {
      const style = await loading;
      this.#loaded.set(file, style);
      const within = new Set([...above, file]);
      await Promise.all(style.imports.map(async ({ file: needed }) => this.#load(needed, within)));
    } catch (error) {
      this.#loading.delete(file);
      throw error;
    }
  }

  /** The compiler is a native library, which apps without styles need not load. */
  async #read(file: string): Promise<StyleFile> {
    const [{ compileFile }, code] = await Promise.all([import('./transform.js'), readFile(file)]);
    return compileFile(file, code, this.#options).style;
  }
}
