/**
 * Components by name and version. A thousand of them cost nothing but their names before they are used: each is loaded on its
 * first use. It must not know who asks for components, or how they are rendered.
 */
import { OWN_ADAPTER, type Adapter } from '../adapters/adapter.js';
import { plain } from '../adapters/plain.js';
import type { Component, Settings } from '../component.js';
import { withDeadline } from '../tasks/deadline.js';
import { LateError } from '../tasks/errors.js';
import { LoadError } from './load-error.js';
import type { GivenProps, Named, PropsOf } from './named.js';
import { compareVersions, isVersion } from './versions.js';

const LOAD_TIMEOUT_MS = 10_000;

export interface RegistryOptions {
  /** Frameworks, in any order: each recognises its components. Functions that return HTML and remote components need none. */
  readonly adapters?: readonly Adapter[];
  /** Milliseconds until a component is loaded, after which its callers give up; default 10,000. */
  readonly loadTimeoutMs?: number;
}

export interface VersionOptions {
  /** A semantic version: `2.1.0`. Default: none, and then the name has no other. */
  readonly version?: string;
}

export interface LazyOptions extends VersionOptions {
  /** File of the component, which errors of its load name. */
  readonly file?: string;
}

/** Exports of a component's module. */
export interface ComponentModule {
  readonly default?: unknown;
  /** Settings; those given at the registration come first. */
  readonly settings?: Settings;
}

export type Load<Module extends ComponentModule = ComponentModule> = () => Promise<Module> | Module;

export interface Registry {
  /**
   * Registers a component. Throws a `TypeError` if this version of the name is there already, or if not exactly one
   * adapter recognises the view. It throws one too if a name would have components with and without versions. Returns the name with the
   * types of its props, for `box`.
   */
  register<View, Given extends Settings<PropsOf<View>> = Settings<PropsOf<View>>>(
    name: string,
    view: View,
    settings?: Given,
    options?: VersionOptions,
  ): Named<GivenProps<View, Given>>;
  /**
   * Registers like `register`, for a component that `load` imports on its first use. A load that fails rejects with a `LoadError`, which names
   * the file and the cause, and is tried again by the next use. So does a module without a component; a load that is late, with a `LateError`.
   */
  lazy<
    Module extends ComponentModule,
    Given extends Settings<PropsOf<Module['default']>> = Settings<PropsOf<Module['default']>>,
  >(
    name: string,
    load: Load<Module>,
    settings?: Given,
    options?: LazyOptions,
  ): Named<GivenProps<Module['default'], Given>>;
  /** The newest version, or that which is named. Undefined where there is none; rejects where it cannot be loaded. */
  find(name: string, version?: string): Promise<Component | undefined>;
  /** Finds like `find`, but undefined if it is not loaded yet. */
  loaded(name: string, version?: string): Component | undefined;
  names(): readonly string[];
  /** Newest first. A component without versions has none. */
  versions(name: string): readonly string[];
}

export function createRegistry(options: RegistryOptions = {}): Registry {
  return new ComponentRegistry(options);
}

class ComponentRegistry implements Registry {
  readonly #adapters: readonly Adapter[];
  readonly #loadTimeoutMs: number;
  /** Versions of each name, newest first. */
  readonly #entries = new Map<string, Entry[]>();

  constructor({ adapters = [], loadTimeoutMs = LOAD_TIMEOUT_MS }: RegistryOptions) {
    this.#adapters = [...adapters.filter((adapter) => adapter !== plain), plain];
    this.#loadTimeoutMs = loadTimeoutMs;
  }

  register<View, Given extends Settings<PropsOf<View>>>(
    name: string,
    view: View,
    settings?: Given,
    { version }: VersionOptions = {},
  ): Named<GivenProps<View, Given>> {
    const component = this.#component(name, version, view, (settings ?? {}) as Settings);
    this.#add({ name, version, component, load: undefined, loading: undefined });
    return { name, version };
  }

  lazy<Module extends ComponentModule, Given extends Settings<PropsOf<Module['default']>>>(
    name: string,
    load: Load<Module>,
    settings?: Given,
    { version, file }: LazyOptions = {},
  ): Named<GivenProps<Module['default'], Given>> {
    checkCacheKey(name, settings);
    const loadComponent = async (): Promise<Component> => {
      const module = await loadModule(name, load, file);
      try {
        const merged = { ...module.settings, ...(settings as Settings | undefined) };
        return this.#component(name, version, viewOf(module), merged);
      } catch (error) {
        throw new LoadError(name, file, error, 'registry');
      }
    };
    this.#add({ name, version, component: undefined, load: loadComponent, loading: undefined });
    return { name, version };
  }

  async find(name: string, version?: string): Promise<Component | undefined> {
    const entry = this.#entry(name, version);
    if (entry === undefined || entry.component !== undefined) return entry?.component;
    return (entry.loading ??= loadEntry(entry, this.#loadTimeoutMs));
  }

  loaded(name: string, version?: string): Component | undefined {
    return this.#entry(name, version)?.component;
  }

  names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  versions(name: string): readonly string[] {
    return (this.#entries.get(name) ?? []).flatMap(({ version }) => version ?? []);
  }

  #entry(name: string, version: string | undefined): Entry | undefined {
    const entries = this.#entries.get(name);
    return version === undefined ? entries?.[0] : entries?.find((entry) => entry.version === version);
  }

  #add(entry: Entry): void {
    const { name, version } = entry;
    if (name === '') throw new TypeError('A component needs a name');
    if (version !== undefined && !isVersion(version)) {
      throw new TypeError(
        `Version "${version}" of component "${name}" is not a semantic version, such as 2.1.0`,
      );
    }
    const entries = this.#entries.get(name);
    if (entries === undefined) {
      this.#entries.set(name, [entry]);
      return;
    }
    if (version === undefined || entries.some((other) => other.version === undefined)) {
      throw new TypeError(`Component "${name}" is registered already; several of one name need versions`);
    }
    if (entries.some((other) => other.version === version)) {
      throw new TypeError(`Version ${version} of component "${name}" is registered already`);
    }
    entries.push(entry);
    entries.sort((a, b) => compareVersions(b.version ?? '', a.version ?? ''));
  }

  #component(name: string, version: string | undefined, view: unknown, settings: Settings): Component {
    checkCacheKey(name, settings);
    const adapter = this.#adapterOf(name, view, settings);
    // The headers of a visitor are part of what a service is asked, and of no key that is made of props.
    if (adapter === adapterOf(view) && settings.cacheKey !== undefined)
      throw new TypeError(
        `Component "${name}" belongs to a service: cacheS of component() caches its HTML, not cacheKey`,
      );
    return { name, version, view, adapter, settings };
  }

  #adapterOf(name: string, view: unknown, { adapter: wanted }: Settings): Adapter {
    const own = adapterOf(view);
    if (own !== undefined) return own;
    const known = this.#adapters.map((adapter) => adapter.name).join(', ');
    if (wanted !== undefined) {
      const named = this.#adapters.find((adapter) => adapter.name === wanted);
      if (named !== undefined) return named;
      throw new TypeError(`Component "${name}" asks for adapter "${wanted}"; the registry has ${known}`);
    }
    const [found, ...others] = recognising(this.#adapters, view);
    if (found === undefined)
      throw new TypeError(`Component "${name}" cannot be rendered by any adapter; the registry has ${known}`);
    if (others.length === 0) return found;
    const names = [found, ...others].map((adapter) => adapter.name).join(', ');
    throw new TypeError(`Component "${name}" may be of ${names}: name one of them in the setting "adapter"`);
  }
}

/** A word that is none would fail each render. */
function checkCacheKey(name: string, settings: { readonly cacheKey?: unknown } = {}): void {
  const key = settings.cacheKey ?? 'props';
  if (key === 'props' || typeof key === 'function') return;
  const given = typeof key === 'string' ? JSON.stringify(key) : `of type ${typeof key}`;
  throw new TypeError(`cacheKey of component "${name}" is ${given}; it may be 'props' or a function`);
}

/** The adapter that a view brings along. */
function adapterOf(view: unknown): Adapter | undefined {
  return typeof view === 'object' && view !== null && OWN_ADAPTER in view
    ? (view[OWN_ADAPTER] as Adapter)
    : undefined;
}

/** Adapters for bare functions that no adapter recognises: the first of these that is there. */
const FUNCTIONS_OF: readonly string[] = ['react', 'preact'];

/**
 * Returns the adapters that recognise a view by a mark; else those whose it may be, of which `plain` gives way to all
 * others.
 */
function recognising(adapters: readonly Adapter[], view: unknown): readonly Adapter[] {
  const says = new Map(adapters.map((adapter) => [adapter, adapter.recognises(view)]));
  const marked = adapters.filter((adapter) => says.get(adapter) === true);
  if (marked.length > 0) return marked;
  const perhaps = adapters.filter((adapter) => says.get(adapter) === 'perhaps');
  const others = perhaps.filter((adapter) => adapter !== plain);
  if (others.length === 0) return perhaps;
  if (!others.every(({ name }) => FUNCTIONS_OF.includes(name))) return others;
  return [...others].sort((a, b) => FUNCTIONS_OF.indexOf(a.name) - FUNCTIONS_OF.indexOf(b.name)).slice(0, 1);
}

interface Entry {
  readonly name: string;
  readonly version: string | undefined;
  component: Component | undefined;
  readonly load: (() => Promise<Component>) | undefined;
  /** All who ask while it is loaded wait for the same. */
  loading: Promise<Component | undefined> | undefined;
}

async function loadModule<Module>(
  name: string,
  load: () => Promise<Module> | Module,
  file: string | undefined,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw error instanceof LateError ? error : new LoadError(name, file, error, 'module');
  }
}

async function loadEntry(entry: Entry, timeoutMs: number): Promise<Component | undefined> {
  const late = (): Error => new LateError(`Component "${entry.name}" was not loaded after ${timeoutMs} ms`);
  try {
    if (entry.load !== undefined) entry.component = await withDeadline(entry.load(), timeoutMs, late);
    return entry.component;
  } finally {
    entry.loading = undefined;
  }
}

/** CommonJS that was compiled from modules has its default export one level deeper. */
function viewOf(module: ComponentModule): unknown {
  const exported = module.default;
  const isWrapped =
    typeof exported === 'object' && exported !== null && '__esModule' in exported && 'default' in exported;
  const view = isWrapped ? exported.default : exported;
  if (view === undefined) throw new TypeError('The module has no default export');
  return view;
}
