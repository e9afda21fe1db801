/**
 * Tags with rules of their own. Each writes its start (or all of itself) and says what children are to be rendered into it. Form controls
 * are in `forms.ts`, what belongs into the head in `hoisting.ts`.
 */
import { attribute, customAttribute, sanitizeUrl } from './attributes.js';
import { escapeText } from './escape.js';
import { DOCUMENT, ROOT } from './format.js';
import { buttonTag, formTag, inputTag, optionTag, selectTag, textareaTag } from './forms.js';
import { transitionAttributes } from './host.js';
import { imageTag, linkElement, metaElement, scriptElement, styleElement, titleElement } from './hoisting.js';
import { innerHtml } from './script.js';
export const NO_END = { nodes: null, end: () => undefined };
const hasOwn = Object.prototype.hasOwnProperty;
function close(render, tag) {
    render.out += tag.close;
}
export function opened(nodes) {
    return { nodes, end: close };
}
/** Attributes by ordinary rules, and what stands apart from them. `special` takes a name for itself by returning true. */
export function attributesOf(props, special) {
    let html = '';
    for (const name in props) {
        if (!hasOwn.call(props, name))
            continue;
        const value = props[name];
        if (value === null || value === undefined || special(name, value))
            continue;
        html += attribute(name, value);
    }
    return html;
}
export function takesContent(content, name, value) {
    if (name === 'children')
        content.children = value;
    else if (name === 'dangerouslySetInnerHTML')
        content.inner = value;
    else
        return false;
    return true;
}
export function transitionOf(format) {
    return format.transition === null ? '' : transitionAttributes(format.transition);
}
/** The end of a start tag with what stands in it, `first` before all: a string for children is written at once, without text rules. */
export function openWith(render, html, content, first = '') {
    const { children, inner } = content;
    render.out += `${html}>${first}${innerHtml(inner, children)}`;
    if (typeof children !== 'string')
        return opened(children ?? null);
    render.out += escapeText(children);
    return opened(null);
}
export function voidTag(html, tag, props, format) {
    const attributes = attributesOf(props, (name) => {
        if (name !== 'children' && name !== 'dangerouslySetInnerHTML')
            return false;
        throw new Error(`${tag} is a self-closing tag and must neither have \`children\` nor use \`dangerouslySetInnerHTML\`.`);
    });
    return `${html}${attributes}${transitionOf(format)}/>`;
}
const selfClosing = (render, tag, props, format, type) => {
    render.out += voidTag(tag.open, type, props, format);
    return NO_END;
};
const anchor = (render, tag, props, format) => {
    const content = { children: null, inner: null };
    let html = tag.open;
    for (const name in props) {
        if (!hasOwn.call(props, name))
            continue;
        const value = props[name];
        if (value === null || value === undefined || takesContent(content, name, value))
            continue;
        // An empty link leads to the page itself; elsewhere react-dom takes an empty URL for a mistake.
        html += name === 'href' && value === '' ? ' href=""' : attribute(name, value);
    }
    return openWith(render, html + transitionOf(format), content);
};
const menuItem = (render, tag, props, format) => {
    const html = attributesOf(props, (name) => {
        if (name !== 'children' && name !== 'dangerouslySetInnerHTML')
            return false;
        throw new Error('menuitems cannot have `children` nor `dangerouslySetInnerHTML`.');
    });
    render.out += `${tag.open}${html}${transitionOf(format)}>`;
    return opened(null);
};
const objectTag = (render, tag, props, format) => {
    const content = { children: null, inner: null };
    let html = tag.open;
    for (const name in props) {
        if (!hasOwn.call(props, name))
            continue;
        const value = props[name];
        if (value === null || value === undefined || takesContent(content, name, value))
            continue;
        if (name !== 'data')
            html += attribute(name, value);
        else {
            const url = sanitizeUrl('' + value);
            if (url !== '')
                html += ` data="${escapeText(url)}"`;
        }
    }
    return openWith(render, html + transitionOf(format), content);
};
/** `<pre>`: browsers drop a first line break, so one more is written. */
const preformatted = (render, tag, props, format) => {
    const content = { children: null, inner: null };
    const html = attributesOf(props, (name, value) => takesContent(content, name, value));
    const { children, inner } = content;
    const raw = innerHtml(inner, children);
    const isString = inner !== null && typeof inner === 'object' && typeof inner.__html === 'string';
    render.out += `${tag.open}${html}${transitionOf(format)}>`;
    if (isString && raw.startsWith('\n'))
        render.out += '\n';
    render.out += raw;
    if (typeof children === 'string' && children.startsWith('\n'))
        render.out += '\n';
    return opened(children);
};
const custom = (render, tag, props, format) => {
    const content = { children: null, inner: null };
    let html = tag.open;
    for (const name in props) {
        if (!hasOwn.call(props, name))
            continue;
        const value = props[name];
        if (value === null || value === undefined || takesContent(content, name, value))
            continue;
        html += customAttribute(name, value);
    }
    render.out += `${html}${transitionOf(format)}>${innerHtml(content.inner, content.children)}`;
    return opened(content.children);
};
// The document ----------------------------------------------------------------------------------------------------
function documentTag(part, highestMode) {
    return (render, tag, props, format) => {
        const content = { children: null, inner: null };
        const html = attributesOf(props, (name, value) => takesContent(content, name, value));
        const start = `${tag.open}${html}${transitionOf(format)}`;
        if (format.mode > highestMode)
            return openWith(render, start, content);
        const preamble = render.preamble ?? render.resources.preamble;
        if (preamble[part] !== null)
            throw new Error(`The \`<${part}>\` tag may only be rendered once.`);
        if (render.preamble !== null)
            render.out += `<!--${part}-->`;
        const doctype = part === 'html' && render.mode === 'stream' ? '<!DOCTYPE html>' : '';
        preamble[part] = `${doctype}${start}>${innerHtml(content.inner, content.children)}`;
        return { nodes: content.children, end: END_OF[part] };
    };
}
const END_OF = {
    html: (render) => {
        render.resources.hasHtml = true;
    },
    body: (render) => {
        render.resources.hasBody = true;
    },
    head: () => undefined,
};
export const SPECIAL_TAGS = new Map([
    ['a', anchor],
    ['select', selectTag],
    ['option', optionTag],
    ['textarea', textareaTag],
    ['input', inputTag],
    ['button', buttonTag],
    ['form', formTag],
    ['menuitem', menuItem],
    ['object', objectTag],
    ['title', titleElement],
    ['link', linkElement],
    ['script', scriptElement],
    ['style', styleElement],
    ['meta', metaElement],
    ['pre', preformatted],
    ['listing', preformatted],
    ['img', imageTag],
    ['head', documentTag('head', DOCUMENT)],
    ['body', documentTag('body', DOCUMENT)],
    ['html', documentTag('html', ROOT)],
    ['-', custom],
]);
for (const tag of 'base area br col embed hr keygen param source track wbr'.split(' ')) {
    SPECIAL_TAGS.set(tag, selfClosing);
}
/** Names with a dash that are ordinary tags of SVG and MathML. */
for (const tag of 'annotation-xml color-profile font-face font-face-src font-face-uri font-face-format font-face-name missing-glyph'.split(' ')) {
    SPECIAL_TAGS.set(tag, (render, { open }, props, format) => {
        const content = { children: null, inner: null };
        const html = attributesOf(props, (name, value) => takesContent(content, name, value));
        return openWith(render, open + html + transitionOf(format), content);
    });
}
//# sourceMappingURL=host-special.js.map