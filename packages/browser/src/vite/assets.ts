/** `sluice-assets.json`: what the build has made, for the server that writes pages. */

export interface ComponentAssets {
  /** Addresses: first the file that has the component's code, perhaps with other components, then all that it imports. */
  readonly js: readonly string[];
  /** Emitted files of styles, in the order of their imports: compiled, with final names of classes. Paths from the manifest's folder. */
  readonly css: readonly string[];
}

export interface EarlyScript {
  /** Code to be inlined as `<script>` before the first box: keeps clicks until the runtime is there. */
  readonly code: string;
  /** Hash for `script-src` of a content security policy: `'sha256-…'` without the quotes. */
  readonly sha256: string;
}

export interface Assets {
  /** Address of the runtime, for one `<script type="module">`. */
  readonly runtime: string;
  /** Components by name, or `Name@version`. */
  readonly components: Readonly<Record<string, ComponentAssets>>;
  /** Frameworks' code by the name that boxes have as `a`. */
  readonly adapters: Readonly<Record<string, { readonly js: readonly string[] }>>;
  readonly early: EarlyScript;
  /** Files that the build has named by their contents, from its folder: what is at their addresses never changes. */
  readonly immutable?: readonly string[];
}

/** The part of Rollup's and Rolldown's chunks that is used. */
interface Chunk {
  readonly type: 'chunk';
  readonly fileName: string;
  readonly imports: readonly string[];
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> };
}

export type Bundle = Readonly<Record<string, Chunk | { readonly type: 'asset' }>>;

/** A chunk and all that it imports, each once, itself first. */
export function codeFiles(bundle: Bundle, fileName: string): readonly string[] {
  const files = new Set<string>();
  const next = [fileName];
  for (let at = next.shift(); at !== undefined; at = next.shift()) {
    if (files.has(at)) continue;
    files.add(at);
    next.push(...importsOf(bundle, at));
  }
  return [...files];
}

/** Styles of what a chunk imports come before its own, as its imports do. */
export function styleFiles(bundle: Bundle, fileName: string): readonly string[] {
  const styles = new Set<string>();
  const seen = new Set<string>();
  const visit = (at: string): void => {
    if (seen.has(at)) return;
    seen.add(at);
    for (const file of importsOf(bundle, at)) visit(file);
    const chunk = bundle[at];
    if (chunk?.type === 'chunk') for (const file of chunk.viteMetadata?.importedCss ?? []) styles.add(file);
  };
  visit(fileName);
  return [...styles];
}

function importsOf(bundle: Bundle, fileName: string): readonly string[] {
  const chunk = bundle[fileName];
  return chunk?.type === 'chunk' ? chunk.imports : [];
}
