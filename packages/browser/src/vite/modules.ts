/**
 * The modules that the plugin makes up: the runtime's entry, the browser's list of components, and the server's. Files of
 * this package are imported by their paths, so that the app needs none of its internals in its dependencies.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ComponentFile } from './components.js';

export const RUNTIME = 'virtual:sluice/runtime';
export const REGISTRY = 'virtual:sluice/registry';
export const SERVER = 'virtual:sluice/server';
export const WRAPPED_REACT = 'virtual:sluice/wrapped-react';
export const DEV = 'virtual:sluice/dev';
export const DEV_STYLES = 'virtual:sluice/dev-styles';
export const STYLE_FILES = 'virtual:sluice/style-files';
/** Followed by the name of an adapter. */
export const ADAPTER = 'virtual:sluice/adapter/';

/** Export of files that hold several components: modules by the names of components. */
export const GROUP = 'sluiceGroup';

// Compiled or not, this file has the extension of its neighbours.
const extension = path.extname(fileURLToPath(import.meta.url));

/** A module of this package, by its path below `src` without its extension. */
export function ownFile(name: string): string {
  return fileURLToPath(new URL(`../${name}${extension}`, import.meta.url))
    .split(path.sep)
    .join('/');
}

const text = (value: unknown): string => JSON.stringify(value);

/** JavaScript for where code is: an address in a build, a function in development. */
export type Locate = (file: string) => string;

export const importing: Locate = (file) => `() => import(${text(file)})`;

export interface RuntimeParts {
  /** Files of adapters by name. */
  readonly adapters: ReadonlyMap<string, string>;
  readonly vitalsShare: number;
  readonly locate: Locate;
}

export function runtimeModule({ adapters, vitalsShare, locate }: RuntimeParts): string {
  const located = [...adapters].map(([name, file]) => `${text(name)}: ${locate(file)}`);
  return `import { start } from ${text(ownFile('runtime/start'))};
start({
  adapters: { ${located.join(', ')} },
  registry: ${locate(REGISTRY)},
  vitals: ${locate(ownFile('vitals/measure'))},
  early: ${locate(ownFile('runtime/early'))},
  vitalsShare: ${text(vitalsShare)},
});
`;
}

/** `grouping` names what groups of components depend on beside their code, so that the file has another name where that changes. */
export function registryModule(
  components: readonly ComponentFile[],
  locate: Locate,
  grouping?: string,
): string {
  const entries = components.map(({ key, file }) => `  ${text(key)}: ${locate(file)},\n`);
  const named = grouping === undefined ? '' : `export const grouping = ${text(grouping)};\n`;
  return `export default {\n${entries.join('')}};\n${named}`;
}

/**
 * Module like `registryModule` that also shows changed modules in the boxes that are there, if their framework does
 * not.
 */
export function devRegistryModule(components: readonly ComponentFile[]): string {
  const files = components.map(({ file }) => file);
  return `import { update } from ${text(ownFile('runtime/mount'))};
const keys = ${text(components.map(({ key }) => key))};
${registryModule(components, importing)}
import.meta.hot?.accept(${text(files)}, (modules) => {
  modules.forEach((module, index) => module && update(keys[index], module));
});
`;
}

/** Adapter of React with the app's component around each box. */
export function wrappedReactModule(wrap: string): string {
  return `import { react } from ${text(ownFile('adapters/react'))};
import wrap from ${text(wrap)};
export default react({ wrap });
`;
}

/**
 * Adapter for files of several components. The runtime loads such a file as one module; this picks the module of the box's
 * component. `codeOf` of the runtime has the same name for a box; to import it from there would be a chunk more.
 */
export function groupedAdapterModule(adapter: string): string {
  return `import adapter from ${text(adapter)};
const nameOf = (box) => box.getAttribute('n') + (box.getAttribute('v') ? '@' + box.getAttribute('v') : '');
function ownOf(request) {
  const group = request.module.${GROUP};
  if (!group) return request;
  const module = group[nameOf(request.box)];
  return { ...request, module, view: module.default };
}
export default { mount: (request) => adapter.mount(ownOf(request)) };
`;
}

/** Module for the server: components by name, loaded on first use, and the component around each box of React. */
export function serverModule(
  components: readonly ComponentFile[],
  wrap: string | undefined,
  root: string,
): string {
  const entries = components.map(({ name, version, file }) => {
    // Errors name the file. Where the project was built is nobody's business.
    const options = text({ version, file: path.posix.relative(root, file) });
    return `  registry.lazy(${text(name)}, ${importing(file)}, undefined, ${options});\n`;
  });
  return `/** Adds all components to a registry of @sluice/render. */
export function register(registry) {
${entries.join('')}  return registry;
}
export const names = ${text([...new Set(components.map(({ name }) => name))])};
${wrap === undefined ? 'export const wrap = undefined;' : `export { default as wrap } from ${text(wrap)};`}
`;
}

/** Everything that a page needs in development, in one script: Vite's client, Fast Refresh, all styles, then the runtime. */
export function devModule(hasReactRefresh: boolean): string {
  // Modules are evaluated in the order of their imports; what the preamble sets has to be there before the first component.
  const refresh = hasReactRefresh
    ? `import { injectIntoGlobalHook } from '/@react-refresh';
injectIntoGlobalHook(window);
window.$RefreshReg$ = () => {};
window.$RefreshSig$ = () => (type) => type;
`
    : '';
  // A style that cannot be compiled is told by Vite's client, and the page needs its runtime all the same.
  return `import '/@vite/client';
${refresh}await import(${text(DEV_STYLES)}).catch(() => {});
for (const style of document.querySelectorAll('style[data-sluice-dev]')) style.remove();
await import(${text(RUNTIME)});
`;
}

/** Paths of all styles, for who sends their text with a page. */
export function styleFilesModule(styles: readonly string[]): string {
  return `export default ${text(styles)};\n`;
}

/** All styles, in their order. */
export function devStylesModule(styles: readonly string[]): string {
  return `${styles.map((file) => `import ${text(file)};\n`).join('')}// CSS Modules do not accept their own changes.
import.meta.hot?.accept(${text(styles)}, () => {});
`;
}
