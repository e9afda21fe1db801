/** Tags that belong into the document's head from any place: title, meta, link, style, script, and preloads of images. */
import { escapeText } from '../facts/escape.js';
import { addHint, preloadHint } from '../facts/headers.js';
import {
  IN_FALLBACK,
  IN_NOSCRIPT,
  IN_PICTURE,
  SHOWS_WITH_IMAGES,
  SVG,
  type FormatContext,
} from '../facts/format.js';
import { NO_END, voidTag, writeVoid, type SpecialTag, type Tag } from './host-special.js';
import { overtake } from './preloads.js';
import { pick, type Props } from '../facts/react.js';
import {
  NO_CREDENTIALS,
  SHEET_PENDING,
  SHEET_PRELOADED,
  adoptCredentials,
  linkTag,
  lookUp,
  styleQueue,
  writeLink,
  type Resource,
} from '../state/resources.js';
import { writeScript, writeStyle, writeStyleText, writeTitle, written } from './script.js';
import { profile } from '../facts/profile.js';
import type { Effect, Render } from '../state/render.js';

/** Tags that stay where they are: in SVG, in `<noscript>`, or described as an item. */
function staysInPlace(format: FormatContext, props: Props): boolean {
  const { itemProp } = props;
  return (
    format.mode === SVG || (format.scope & IN_NOSCRIPT) !== 0 || (itemProp !== null && itemProp !== undefined)
  );
}

/** The tag leaves its place; text before and after it are neighbours now, in different nodes. */
function separateText(render: Render): void {
  if (render.lastText && !render.markup) render.out += '<!-- -->';
}

export const titleElement: SpecialTag = (render, _tag, props, format) => {
  if (staysInPlace(format, props)) render.out += written(writeTitle, props);
  else if (!(format.scope & IN_FALLBACK)) writeTitle(render.resources.hoisted, props);
  return NO_END;
};

export const metaElement: SpecialTag = (render, tag, props, format) => {
  const { resources } = render;
  if (staysInPlace(format, props)) {
    render.out += voidTag(tag.open, 'meta', props, format);
    return NO_END;
  }
  separateText(render);
  if (format.scope & IN_FALLBACK) return NO_END;
  let to = resources.hoisted;
  if (typeof props['charSet'] === 'string') to = resources.charset;
  else if (props['name'] === 'viewport') to = resources.viewport;
  writeVoid(to, tag.open, 'meta', props, format);
  return NO_END;
};

export const linkElement: SpecialTag = (render, _tag, props, format) => {
  const { rel, href, precedence, disabled } = props;
  if (staysInPlace(format, props) || typeof rel !== 'string' || typeof href !== 'string' || href === '') {
    render.out += linkTag(props);
    return NO_END;
  }
  const handled = Boolean(props['onLoad']) || Boolean(props['onError']);
  if (rel !== 'stylesheet') {
    if (handled) render.out += linkTag(props);
    else {
      separateText(render);
      if (!(format.scope & IN_FALLBACK)) writeLink(render.resources.hoisted, props);
    }
    return NO_END;
  }
  if (handled || typeof precedence !== 'string' || (disabled !== null && disabled !== undefined)) {
    render.out += linkTag(props);
    return NO_END;
  }
  addStylesheet(render, props, href, precedence);
  separateText(render);
  return NO_END;
};

function addStylesheet(render: Render, props: Props, href: string, precedence: string): void {
  const { resources, hoistables } = render;
  const credentials = lookUp(resources.asked.styles, href);
  if (credentials === null) {
    const known = resources.styles.get(precedence)?.sheets.get(href);
    if (known !== undefined) hoistables?.stylesheets.add(known);
    return;
  }
  resources.asked.styles[href] = null;
  const sheet = {
    state: SHEET_PENDING,
    props: { ...props, 'data-precedence': precedence, precedence: null } as Props,
  };
  if (credentials !== undefined) {
    adoptCredentials(sheet.props, credentials);
    if (!overtake(resources.stylePreloads.get(href))) sheet.state = SHEET_PRELOADED;
  }
  styleQueue(resources, precedence).sheets.set(href, sheet);
  hoistables?.stylesheets.add(sheet);
}

export const scriptElement: SpecialTag = (render, _tag, props, format) => {
  const { src, async: isAsync } = props;
  const hoists =
    typeof src === 'string' &&
    src !== '' &&
    Boolean(isAsync) &&
    typeof isAsync !== 'function' &&
    typeof isAsync !== 'symbol' &&
    !props['onLoad'] &&
    !props['onError'];
  if (!hoists || staysInPlace(format, props)) {
    render.out += written(writeScript, props);
    return NO_END;
  }
  const { resources } = render;
  const isModule = props['type'] === 'module';
  const keys = isModule ? resources.asked.modules : resources.asked.scripts;
  const credentials = lookUp(keys, src);
  if (credentials !== null) {
    keys[src] = null;
    let given = props;
    if (credentials !== undefined) {
      if (credentials.length === 2) {
        given = { ...props };
        adoptCredentials(given, credentials);
      }
      overtake((isModule ? resources.modulePreloads : resources.scriptPreloads).get(src));
    }
    const script = { html: '' };
    resources.scripts.add(script);
    writeScript(script, given);
  }
  separateText(render);
  return NO_END;
};

export const styleElement: SpecialTag = (render, _tag, props, format) => {
  const { precedence, href, nonce } = props;
  const isResource = typeof precedence === 'string' && typeof href === 'string' && href !== '';
  if (!isResource || staysInPlace(format, props)) {
    render.out += written(writeStyle, props);
    return NO_END;
  }
  const { resources, hoistables } = render;
  if (lookUp(resources.asked.styles, href) !== null) {
    resources.asked.styles[href] = null;
    const queue = styleQueue(resources, precedence);
    if (!resources.styleNonce || resources.styleNonce === nonce) {
      queue.hrefs.push(escapeText(href));
      const rule = { html: '' };
      queue.rules.push(rule);
      writeStyleText(rule, props);
    }
  }
  const queue = resources.styles.get(precedence);
  if (queue !== undefined) hoistables?.styles.add(queue);
  separateText(render);
  return NO_END;
};

// Images -----------------------------------------------------------------------------------------------------------

const HIGH_PRIORITY_IMAGES_MAX = 10;
const IMAGE_HINT_CHARACTERS_MAX = 500;

export const imageTag: SpecialTag = (render, tag, props, format) => {
  if (isPreloadable(props, format)) preloadImage(render, props, format);
  render.out += voidTag(tag.open, 'img', props, format);
  return NO_END;
};

function isDataUrl(url: unknown): boolean {
  return typeof url === 'string' && url[4] === ':' && url.slice(0, 4).toLowerCase() === 'data';
}

function isPreloadable({ src, srcSet, loading, fetchPriority }: Props, format: FormatContext): boolean {
  if (loading === 'lazy' || (!src && !srcSet) || fetchPriority === 'low') return false;
  if (typeof src !== 'string' && src !== null && src !== undefined) return false;
  if (typeof srcSet !== 'string' && srcSet !== null && srcSet !== undefined) return false;
  if (format.scope & (IN_NOSCRIPT | IN_PICTURE)) return false;
  return !isDataUrl(src) && !isDataUrl(srcSet);
}

function preloadImage(render: Render, props: Props, format: FormatContext): void {
  const { resources, hoistables } = render;
  if (hoistables !== null && format.scope & SHOWS_WITH_IMAGES) hoistables.suspenseyImages = true;
  const { fetchPriority } = props;
  const src = props['src'] as string;
  const srcSet = props['srcSet'] as string | undefined;
  const sizes = typeof props['sizes'] === 'string' ? props['sizes'] : undefined;
  const key = srcSet ? `${srcSet}\n${sizes || ''}` : src;
  const isHigh = (): boolean =>
    fetchPriority === 'high' || resources.highImagePreloads.size < HIGH_PRIORITY_IMAGES_MAX;
  const known = resources.imagePreloads.get(key);
  if (known !== undefined) {
    if (!isHigh()) return;
    resources.imagePreloads.delete(key);
    resources.highImagePreloads.add(known);
    return;
  }
  if (lookUp(resources.asked.images, key) !== undefined) return;
  resources.asked.images[key] = NO_CREDENTIALS;
  const crossOrigin = imageCredentials(props['crossOrigin']);
  const { hints } = resources;
  const hinted =
    hints !== null &&
    (typeof srcSet !== 'string' || profile.imageHints === 'all') &&
    (fetchPriority === 'high' || hints.highImagePreloads.length < IMAGE_HINT_CHARACTERS_MAX) &&
    addHint(hints, 'highImagePreloads', () =>
      preloadHint(src, 'image', {
        imageSrcSet: srcSet,
        imageSizes: props['sizes'],
        crossOrigin,
        ...pick(props, 'integrity nonce type fetchPriority'),
        referrerPolicy: props[profile.imageHintReferrer],
      }),
    );
  if (hinted) return;
  const href = srcSet ? undefined : src;
  const link = { rel: 'preload', as: 'image', href, imageSrcSet: srcSet, imageSizes: sizes, crossOrigin };
  const html = linkTag({ ...link, ...pick(props, 'integrity type fetchPriority referrerPolicy') });
  const preload: Resource = { html };
  if (isHigh()) resources.highImagePreloads.add(preload);
  else {
    resources.bulkPreloads.add(preload);
    resources.imagePreloads.set(key, preload);
  }
}

function imageCredentials(crossOrigin: unknown): string | undefined {
  if (typeof crossOrigin !== 'string') return undefined;
  return crossOrigin === 'use-credentials' ? crossOrigin : '';
}

// Again ------------------------------------------------------------------------------------------------------------

const HOISTED = new Set(['title', 'meta', 'link', 'script', 'style']);

const IMAGE_PROPS =
  'src srcSet sizes loading fetchPriority crossOrigin integrity type referrerPolicy refererPolicy nonce';
/** Approximate memory of a copy of a tag's properties beside its texts. */
const EFFECT_BYTES = 256;

/** Returns the effect of a tag beside writing HTML in place; null when it has none. */
export function effectOf(type: string, tag: Tag, props: Props, format: FormatContext): Effect | null {
  if (type === 'img') {
    if (!isPreloadable(props, format)) return null;
    // By functions of their own: no closure that is kept is to have the properties themselves in its scope.
    const copy = pick(props, IMAGE_PROPS);
    return { again: (render) => preloadImage(render, copy, format), bytes: bytesOf(copy) };
  }
  const { special } = tag;
  if (special === undefined || !HOISTED.has(type) || staysInPlace(format, props)) return null;
  const isHandled = Boolean(props['onLoad']) || Boolean(props['onError']);
  if (isHandled && (type === 'link' || type === 'script')) return null;
  const copy = writtenOf(props);
  const place = { ...format, selected: null };
  const again = (render: Render): void => {
    const { out, lastText } = render;
    special(render, tag, copy, place, type);
    render.out = out;
    render.lastText = lastText;
  };
  return { again, bytes: bytesOf(copy) };
}

/** Returns the properties of a tag that are written: handlers and refs are not, and would keep alive what they refer to. */
function writtenOf(props: Props): Props {
  return Object.fromEntries(
    Object.entries(props).filter(([name, value]) => typeof value !== 'function' && name !== 'ref'),
  );
}

function bytesOf(props: Props): number {
  return Object.values(props).reduce(
    (sum: number, value) => sum + (typeof value === 'string' ? value.length : 0),
    EFFECT_BYTES,
  );
}
