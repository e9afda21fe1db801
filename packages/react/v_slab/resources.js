/**
 * What a render gathers for the document's head: stylesheets, scripts, preloads, hoisted tags, the tags of the document itself, and which of
 * these were already asked for. Keys and order of the sets are react-dom's, since the bytes depend on them.
 */
import { attribute } from './attributes.js';
import { escapeHtml } from './escape.js';
import { createHeaderHints } from './headers.js';
export const SHEET_PENDING = 0;
export const SHEET_PRELOADED = 1;
export const SHEET_WRITTEN = 2;
export const SHEET_LATE = 3;
export const NO_CREDENTIALS = [];
export class Resources {
    instructions = 0;
    nextFormId = 0;
    hasBody = false;
    hasHtml = false;
    stylesToHoist = false;
    preamble = { html: null, head: null, body: null };
    charset = '';
    viewport = '';
    hoisted = '';
    bootstrap = '';
    importMap = '';
    preconnects = new Set();
    fontPreloads = new Set();
    highImagePreloads = new Set();
    bootstrapPreloads = new Set();
    scripts = new Set();
    bulkPreloads = new Set();
    styles = new Map();
    /** Preloads that may still be promoted or overtaken by the resource itself. */
    imagePreloads = new Map();
    stylePreloads = new Map();
    scriptPreloads = new Map();
    modulePreloads = new Map();
    dns = {};
    connections = { default: {}, anonymous: {}, credentials: {} };
    imageKeys = {};
    styleKeys = {};
    scriptKeys = {};
    moduleKeys = {};
    otherKeys = {};
    otherModuleKeys = {};
    idPrefix;
    scriptNonce;
    styleNonce;
    openScript;
    openStyle;
    hints;
    onHeaders;
    constructor(options) {
        const { nonce, onHeaders } = options;
        // In a template literal, as react-dom concatenates: null and numbers are spelled out.
        this.idPrefix = options.identifierPrefix === undefined ? '' : `${options.identifierPrefix}`;
        this.scriptNonce = typeof nonce === 'string' ? nonce : (nonce && nonce.script);
        this.styleNonce = typeof nonce === 'string' ? undefined : (nonce && nonce.style);
        const open = (tag, value) => value === undefined ? `<${tag}` : `<${tag} nonce="${escapeHtml(value)}"`;
        this.openScript = open('script', this.scriptNonce);
        this.openStyle = open('style', this.styleNonce);
        this.onHeaders = onHeaders ?? undefined;
        this.hints = onHeaders ? createHeaderHints(options.maxHeadersLength) : null;
        writeBootstrap(this, options);
    }
}
// Bits of `Resources.instructions`: what the client has been given already.
export const SENT_COMPLETE_SEGMENT = 1;
export const SENT_COMPLETE_BOUNDARY = 2;
export const SENT_CLIENT_RENDER = 4;
export const SENT_STYLE_INSERTION = 8;
export const SENT_FORM_REPLAY = 16;
export const SENT_SHELL_ID = 32;
export const SENT_SHELL_TIME = 64;
export const SENT_VIEW_TRANSITIONS = 256;
const SCRIPT_END = /(<\/|<)(s)(cript)/gi;
/** Inline script text that cannot end its element: the s of `<script` and `</script` becomes an escape. */
export function escapeScript(text) {
    return text.replace(SCRIPT_END, (_match, open, s, rest) => open + (s === 's' ? '\\u0073' : '\\u0053') + rest);
}
/** ` id="…"` on the first script of a shell without `<html>`, by which the client knows where the shell ends; once. */
export function shellId(resources) {
    if (resources.instructions & SENT_SHELL_ID)
        return '';
    resources.instructions |= SENT_SHELL_ID;
    return ` id="${escapeHtml(`_${resources.idPrefix}R_`)}"`;
}
function writeBootstrap(resources, options) {
    const { bootstrapScriptContent: content, bootstrapScripts = [], bootstrapModules = [] } = options;
    if (content !== undefined) {
        resources.bootstrap += `${resources.openScript}${shellId(resources)}>${escapeScript(`${content}`)}</script>`;
    }
    if (options.importMap !== undefined) {
        const nonce = resources.scriptNonce === undefined ? '' : ` nonce="${escapeHtml(resources.scriptNonce)}"`;
        const map = escapeScript(`${JSON.stringify(options.importMap)}`);
        resources.importMap = `<script type="importmap"${nonce}>${map}</script>`;
    }
    for (const script of bootstrapScripts) {
        const preload = { rel: 'preload', as: 'script', fetchPriority: 'low', nonce: options.nonce };
        bootstrapScript(resources, script, preload, '<script src="');
    }
    for (const script of bootstrapModules) {
        const preload = { rel: 'modulepreload', fetchPriority: 'low', nonce: resources.scriptNonce };
        bootstrapScript(resources, script, preload, '<script type="module" src="');
    }
}
function bootstrapScript(resources, script, preload, open) {
    const src = typeof script === 'string' ? script : script.src;
    preload['href'] = src;
    let integrity;
    let crossOrigin;
    if (typeof script !== 'string') {
        if (typeof script.integrity === 'string')
            integrity = script.integrity;
        const given = script.crossOrigin;
        if (given !== null && given !== undefined)
            crossOrigin = given === 'use-credentials' ? given : '';
        preload['integrity'] = integrity;
        preload['crossOrigin'] = crossOrigin;
    }
    resources.scriptKeys[src] = null;
    resources.moduleKeys[src] = null;
    resources.bootstrapPreloads.add({ html: linkTag(preload) });
    resources.bootstrap += `${open}${escapeHtml(src)}"`;
    if (resources.scriptNonce)
        resources.bootstrap += ` nonce="${escapeHtml(resources.scriptNonce)}"`;
    if (integrity !== undefined)
        resources.bootstrap += ` integrity="${escapeHtml(integrity)}"`;
    if (crossOrigin !== undefined)
        resources.bootstrap += ` crossorigin="${escapeHtml(crossOrigin)}"`;
    resources.bootstrap += `${shellId(resources)} async=""></script>`;
}
const hasOwn = Object.prototype.hasOwnProperty;
export function linkTag(props) {
    let html = '<link';
    for (const name in props) {
        if (!hasOwn.call(props, name))
            continue;
        const value = props[name];
        if (value === null || value === undefined)
            continue;
        if (name === 'children' || name === 'dangerouslySetInnerHTML') {
            throw new Error('link is a self-closing tag and must neither have `children` nor use `dangerouslySetInnerHTML`.');
        }
        html += attribute(name, value);
    }
    return html + '/>';
}
export function createHoistables() {
    return { styles: new Set(), stylesheets: new Set(), suspenseyImages: false };
}
export function addHoistables(to, from) {
    for (const queue of from.styles)
        to.styles.add(queue);
    for (const sheet of from.stylesheets)
        to.stylesheets.add(sheet);
    if (from.suspenseyImages)
        to.suspenseyImages = true;
}
/** Whether a boundary has to wait for the client's resources before it is shown, and so is better sent late. */
export function waitsForResources(hoistables, inShell) {
    return hoistables.suspenseyImages || (!inShell && hoistables.stylesheets.size > 0);
}
/** The table's entry; undefined when never asked for, null when the resource itself is there. */
export function lookUp(table, key) {
    return hasOwn.call(table, key) ? table[key] : undefined;
}
export function styleQueue(resources, precedence) {
    let queue = resources.styles.get(precedence);
    if (queue === undefined) {
        queue = { precedence: escapeHtml(precedence), rules: '', hrefs: [], sheets: new Map() };
        resources.styles.set(precedence, queue);
    }
    return queue;
}
/** Takes over what an earlier preload of the same resource said. */
export function adoptCredentials(props, credentials) {
    if (credentials?.length !== 2)
        return;
    props['crossOrigin'] ??= credentials[0];
    props['integrity'] ??= credentials[1];
}
export function credentialsOf(options) {
    if (!options)
        return NO_CREDENTIALS;
    const { crossOrigin, integrity } = options;
    return typeof crossOrigin === 'string' || typeof integrity === 'string'
        ? [crossOrigin, integrity]
        : NO_CREDENTIALS;
}
//# sourceMappingURL=resources.js.map