/** Host elements: tags with their attributes. Ordinary tags are written here; those with rules of their own in `host-special.ts`. */
import { attribute, namedAttribute } from './attributes.js';
import { escapeText } from './escape.js';
import { FORMATTING_TAGS, HEAD, childFormat } from './format.js';
import { NO_END, SPECIAL_TAGS } from './host-special.js';
import { ALONE, renderNode } from './render.js';
import { innerHtml } from './script.js';
import { finishSegment, spill, switchSegment } from './segments.js';
import { Segment } from './work.js';
const VALID_TAG = /^[a-zA-Z][a-zA-Z:_.\-\d]*$/;
const REMEMBERED_MAX = 1024;
const tags = new Map();
export function tagOf(type) {
    const known = tags.get(type);
    if (known !== undefined)
        return known;
    if (!VALID_TAG.test(type))
        throw new Error(`Invalid tag: ${type}`);
    const tag = {
        open: `<${type}`,
        close: `</${type}>`,
        special: SPECIAL_TAGS.get(type) ?? (type.includes('-') ? SPECIAL_TAGS.get('-') : undefined),
        formats: FORMATTING_TAGS.has(type),
    };
    if (tags.size >= REMEMBERED_MAX)
        tags.clear();
    tags.set(type, tag);
    return tag;
}
const hasOwn = Object.prototype.hasOwnProperty;
export function renderHost(render, type, props) {
    render.chained = false;
    const tag = tags.get(type) ?? tagOf(type);
    if (tag.special !== undefined)
        return renderSpecialHost(render, tag, type, props);
    let html = tag.open;
    let children = null;
    let inner = null;
    for (const name in props) {
        if (!hasOwn.call(props, name))
            continue;
        const value = props[name];
        if (value === null || value === undefined)
            continue;
        if (name === 'children')
            children = value;
        else if (name === 'dangerouslySetInnerHTML')
            inner = value;
        else
            html += attribute(name, value);
    }
    const { format } = render;
    if (format.transition !== null)
        html += transitionAttributes(format.transition);
    html += inner === null ? '>' : '>' + innerHtml(inner, children);
    if (typeof children === 'string') {
        render.out += html + escapeText(children) + tag.close;
        render.lastText = false;
    }
    else {
        render.out += html;
        renderHostChildren(render, tag, type, props, children);
        render.out += tag.close;
        render.lastText = false;
    }
    if (render.out.length > render.spillLength)
        spill(render);
    return undefined;
}
function renderHostChildren(render, tag, type, props, children) {
    render.lastText = false;
    const { format } = render;
    if (format.plain && !tag.formats)
        return renderNode(render, children, ALONE);
    const inside = childFormat(format, type, props);
    render.format = inside;
    if (inside.mode === HEAD)
        renderIntoHead(render, inside, children);
    else
        renderNode(render, children, ALONE);
    render.format = format;
    return undefined;
}
function renderSpecialHost(render, tag, type, props) {
    const { format } = render;
    const children = tag.special(render, tag, props, format, type);
    if (children === NO_END) {
        render.lastText = false;
        return;
    }
    const ends = children.end;
    renderHostChildren(render, tag, type, props, children.nodes);
    ends(render, tag, format);
    render.lastText = false;
    if (render.out.length > render.spillLength)
        spill(render);
}
/** Children of the document's head are held back: what the page hoists comes before them. */
function renderIntoHead(render, format, children) {
    const around = render.segment;
    const segment = new Segment(null, format, false, false);
    (around.preambleChildren ??= []).push(segment);
    switchSegment(render, segment);
    try {
        renderNode(render, children, ALONE);
        finishSegment(render, render.boundary);
    }
    finally {
        switchSegment(render, around);
    }
}
export function transitionAttributes(transition) {
    let html = '';
    if (transition.name !== 'auto') {
        const { name, nameIndex } = transition;
        html += namedAttribute('vt-name', nameIndex === 0 ? name : `${name}_${nameIndex}`);
        transition.nameIndex += 1;
    }
    html += namedAttribute('vt-update', transition.update);
    if (transition.enter !== 'none')
        html += namedAttribute('vt-enter', transition.enter);
    if (transition.exit !== 'none')
        html += namedAttribute('vt-exit', transition.exit);
    if (transition.share !== 'none')
        html += namedAttribute('vt-share', transition.share);
    return html;
}
//# sourceMappingURL=host.js.map