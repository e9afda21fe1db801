/**
 * `preload`, `preconnect`, `preinit` and the other resource functions of react-dom, during a render of ours. Outside of one, the call goes
 * to the previous holder of the slot.
 */
import { addHint, hintParameter, hintUrl, preloadHint } from '../facts/headers.js';
import { resourceSlot, type Props } from '../facts/react.js';
import {
  adoptCredentials,
  credentialsOf,
  linkTag,
  lookUp,
  NO_CREDENTIALS,
  ownTable,
  SHEET_PENDING,
  SHEET_PRELOADED,
  styleQueue,
  type Resource,
  type Resources,
} from '../state/resources.js';
import { writeScript } from './script.js';
import { profile } from '../facts/profile.js';

/** The render a call belongs to. */
export interface ResourceTarget {
  readonly resources: Resources;
  /** The call is part of a subtree that the component cache may keep: it is to be made again with it. */
  noteEffect(again: (resources: Resources) => boolean): void;
  /** Asks for a flush of what has been added, when nothing else will bring one. */
  enqueueFlush(): void;
}

type Options = Props | undefined;
type Add = (resources: Resources, ...args: never[]) => boolean;

/** Resource functions by react-dom's own one-letter names. Each says whether it has added something to flush. */
const ADD = new Map<string, Add>([
  ['D', prefetchDns],
  ['C', preconnect],
  ['L', preload],
  ['m', preloadModule],
  ['X', (resources, src: string, options: Options) => preinitScript(resources, src, options, false)],
  ['S', preinitStyle],
  ['M', (resources, src: string, options: Options) => preinitScript(resources, src, options, true)],
]);

export function installResourceFunctions(target: () => ResourceTarget | null): void {
  if (resourceSlot === undefined) return;
  const functions = { ...resourceSlot.d };
  for (const [name, next] of Object.entries(functions)) {
    const add = ADD.get(name);
    if (add === undefined) continue;
    functions[name] = (...args) => {
      const render = target();
      if (render === null) return next(...args);
      const addTo = (resources: Resources): boolean => add(resources, ...(args as never[]));
      render.noteEffect(addTo);
      if (addTo(render.resources)) render.enqueueFlush();
      return undefined;
    };
  }
  resourceSlot.d = functions;
}

function prefetchDns(resources: Resources, href: unknown): boolean {
  if (typeof href !== 'string' || href === '') return false;
  if (lookUp(resources.asked.dns, href) === undefined) {
    resources.asked.dns[href] = null;
    if (!addHint(resources.hints, 'preconnects', () => `<${hintUrl(href)}>; rel=dns-prefetch`)) {
      resources.preconnects.add({ html: linkTag({ href, rel: 'dns-prefetch' }) });
    }
  }
  return true;
}

function preconnect(resources: Resources, href: unknown, crossOrigin: unknown): boolean {
  if (typeof href !== 'string' || href === '') return false;
  let bucket = 'default';
  if (crossOrigin === 'use-credentials') bucket = 'credentials';
  else if (typeof crossOrigin === 'string') bucket = 'anonymous';
  const known = resources.asked.connections[bucket] ?? {};
  if (lookUp(known, href) === undefined) {
    known[href] = null;
    const parameter = typeof crossOrigin === 'string' ? `; crossorigin="${hintParameter(crossOrigin)}"` : '';
    if (!addHint(resources.hints, 'preconnects', () => `<${hintUrl(href)}>; rel=preconnect${parameter}`)) {
      resources.preconnects.add({ html: linkTag({ rel: 'preconnect', href, crossOrigin }) });
    }
  }
  return true;
}

function preload(resources: Resources, href: string, as: string, options: Options): boolean {
  if (!as || !href) return false;
  if (as === 'image') return preloadImage(resources, href, options);
  const link = (): Resource => ({ html: linkTag({ rel: 'preload', href, as, ...options }) });
  if (as === 'style' || as === 'script') {
    const keys = as === 'style' ? resources.asked.styles : resources.asked.scripts;
    if (lookUp(keys, href) !== undefined) return false;
    const resource = link();
    keys[href] = credentialsOf(options);
    (as === 'style' ? resources.stylePreloads : resources.scriptPreloads).set(href, resource);
    resources.bulkPreloads.add(resource);
    return true;
  }
  const keys = ownTable(resources.asked.others, as);
  if (lookUp(keys, href) !== undefined) return false;
  keys[href] = NO_CREDENTIALS;
  if (as === 'font' && addHint(resources.hints, 'fontPreloads', () => preloadHint(href, as, options)))
    return true;
  (as === 'font' ? resources.fontPreloads : resources.bulkPreloads).add(link());
  return true;
}

function preloadImage(resources: Resources, href: string, options: Options): boolean {
  const srcSet = options?.['imageSrcSet'] as string | undefined;
  const sizes = options?.['imageSizes'] as string | undefined;
  const high = options?.['fetchPriority'] === 'high';
  const key = srcSet ? `${srcSet}\n${sizes || ''}` : href;
  if (lookUp(resources.asked.images, key) !== undefined) return false;
  resources.asked.images[key] = NO_CREDENTIALS;
  const hinted =
    high &&
    (typeof srcSet !== 'string' || profile.imageHints === 'all') &&
    addHint(resources.hints, 'highImagePreloads', () => preloadHint(href, 'image', options));
  if (hinted) return true;
  const resource = {
    html: linkTag({ rel: 'preload', href: srcSet ? undefined : href, as: 'image', ...options }),
  };
  if (high) resources.highImagePreloads.add(resource);
  else {
    resources.bulkPreloads.add(resource);
    resources.imagePreloads.set(key, resource);
  }
  return true;
}

function preloadModule(resources: Resources, href: string, options: Options): boolean {
  if (!href) return false;
  const as = options && typeof options['as'] === 'string' ? options['as'] : 'script';
  let keys = resources.asked.modules;
  if (as !== 'script') {
    const isSecond = Object.hasOwn(resources.asked.otherModules, as);
    keys = ownTable(resources.asked.otherModules, as);
    if (profile.modulePreloads === 'confused' && isSecond) {
      // Before 19.3 it looks into the table of other preloads, which may not be there.
      if (!Object.hasOwn(resources.asked.others, as))
        throw new TypeError("Cannot read properties of undefined (reading 'hasOwnProperty')");
      keys = ownTable(resources.asked.others, as);
    }
  }
  if (lookUp(keys, href) !== undefined) return false;
  keys[href] = as === 'script' ? credentialsOf(options) : NO_CREDENTIALS;
  const resource = { html: linkTag({ rel: 'modulepreload', href, ...options }) };
  if (as === 'script') resources.modulePreloads.set(href, resource);
  resources.bulkPreloads.add(resource);
  return true;
}

function preinitStyle(
  resources: Resources,
  href: string,
  precedence: string | undefined,
  options: Options,
): boolean {
  if (!href) return false;
  const credentials = lookUp(resources.asked.styles, href);
  if (credentials === null) return false;
  resources.asked.styles[href] = null;
  const group = precedence || 'default';
  const props: Props = { rel: 'stylesheet', href, 'data-precedence': group, ...options };
  const sheet = { state: SHEET_PENDING, props };
  if (credentials !== undefined) {
    adoptCredentials(props, credentials);
    if (!overtake(resources.stylePreloads.get(href))) sheet.state = SHEET_PRELOADED;
  }
  styleQueue(resources, group).sheets.set(href, sheet);
  return true;
}

/** The resource itself is here: its preload, when not yet written, is not needed any more. */
export function overtake(preloadOfIt: Resource | undefined): boolean {
  if (preloadOfIt === undefined || preloadOfIt.html === '') return false;
  preloadOfIt.html = '';
  return true;
}

function preinitScript(resources: Resources, src: string, options: Options, module: boolean): boolean {
  if (!src) return false;
  const keys = module ? resources.asked.modules : resources.asked.scripts;
  const credentials = lookUp(keys, src);
  if (credentials === null) return false;
  keys[src] = null;
  const props: Props = module ? { src, type: 'module', async: true } : { src, async: true };
  Object.assign(props, options);
  if (credentials !== undefined) {
    adoptCredentials(props, credentials);
    overtake((module ? resources.modulePreloads : resources.scriptPreloads).get(src));
  }
  const script = { html: '' };
  resources.scripts.add(script);
  writeScript(script, props);
  return true;
}
