/**
 * `preload`, `preconnect`, `preinit` and the other resource functions of react-dom, during a render of ours. Outside of one, the call goes on to
 * whoever had the slot before.
 */
import { addHint, hintParameter, hintUrl, preloadHint } from '../facts/headers.js';
import { resourceSlot, type Props, type ResourceDispatcher } from '../facts/react.js';
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
import { confusesModulePreloads, hintsImageSets } from '../facts/versions.js';

/** The render a call belongs to. */
export interface ResourceTarget {
  readonly resources: Resources;
  /** The call is part of a subtree that the component cache may keep: it is to be made again with it. */
  noteEffect(again: (resources: Resources) => boolean): void;
  /** Asks for a flush of what has been added, when nothing else will bring one. */
  enqueueFlush(): void;
}

export function installResourceFunctions(target: () => ResourceTarget | null): void {
  if (resourceSlot === undefined) return;
  const next = resourceSlot.d;
  resourceSlot.d = resourceFunctions(target, next);
}

type Options = Props | undefined;

function resourceFunctions(
  target: () => ResourceTarget | null,
  next: ResourceDispatcher,
): ResourceDispatcher {
  /** Runs `add` on the current render; it says whether it has added something to flush. */
  const onRender = (add: (resources: Resources) => boolean, otherwise: () => void): void => {
    const render = target();
    if (render === null) return otherwise();
    render.noteEffect(add);
    if (add(render.resources)) render.enqueueFlush();
    return undefined;
  };
  return {
    f: next.f,
    r: next.r,
    D: (href) =>
      onRender(
        (resources) => prefetchDns(resources, href),
        () => next.D(href),
      ),
    C: (href, crossOrigin) =>
      onRender(
        (resources) => preconnect(resources, href, crossOrigin),
        () => next.C(href, crossOrigin),
      ),
    L: (href, as, options) =>
      onRender(
        (resources) => preload(resources, href as string, as as string, options),
        () => next.L(href, as, options),
      ),
    m: (href, options) =>
      onRender(
        (resources) => preloadModule(resources, href as string, options),
        () => next.m(href, options),
      ),
    X: (src, options) =>
      onRender(
        (resources) => preinitScript(resources, src as string, options, false),
        () => next.X(src, options),
      ),
    S: (href, precedence, options) =>
      onRender(
        (resources) => preinitStyle(resources, href as string, precedence as string, options),
        () => next.S(href, precedence, options),
      ),
    M: (src, options) =>
      onRender(
        (resources) => preinitScript(resources, src as string, options, true),
        () => next.M(src, options),
      ),
  };
}

function prefetchDns(resources: Resources, href: unknown): boolean {
  if (typeof href !== 'string' || href === '') return false;
  if (lookUp(resources.dns, href) === undefined) {
    resources.dns[href] = null;
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
  const known = resources.connections[bucket] ?? {};
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
    const keys = as === 'style' ? resources.styleKeys : resources.scriptKeys;
    if (lookUp(keys, href) !== undefined) return false;
    const resource = link();
    keys[href] = credentialsOf(options);
    (as === 'style' ? resources.stylePreloads : resources.scriptPreloads).set(href, resource);
    resources.bulkPreloads.add(resource);
    return true;
  }
  const keys = ownTable(resources.otherKeys, as);
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
  if (lookUp(resources.imageKeys, key) !== undefined) return false;
  resources.imageKeys[key] = NO_CREDENTIALS;
  const hinted =
    high &&
    (typeof srcSet !== 'string' || hintsImageSets) &&
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
  let keys = resources.moduleKeys;
  if (as !== 'script') {
    const isSecond = Object.hasOwn(resources.otherModuleKeys, as);
    keys = ownTable(resources.otherModuleKeys, as);
    if (confusesModulePreloads && isSecond) {
      // Before 19.3 it looks into the table of other preloads, which may not be there.
      if (!Object.hasOwn(resources.otherKeys, as))
        throw new TypeError("Cannot read properties of undefined (reading 'hasOwnProperty')");
      keys = ownTable(resources.otherKeys, as);
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
  const credentials = lookUp(resources.styleKeys, href);
  if (credentials === null) return false;
  resources.styleKeys[href] = null;
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
  const keys = module ? resources.moduleKeys : resources.scriptKeys;
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
