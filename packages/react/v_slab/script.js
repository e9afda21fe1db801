/** Tags with raw text, and the pieces that every tag writer shares. */
import { attribute } from './attributes.js';
import { escapeText } from './escape.js';
import { escapeScript } from './resources.js';
const hasOwn = Object.prototype.hasOwnProperty;
/** `dangerouslySetInnerHTML`, checked as react-dom checks it; '' when not given. */
export function innerHtml(inner, children) {
    if (inner === null || inner === undefined)
        return '';
    if (children !== null && children !== undefined) {
        throw new Error('Can only set one of `children` or `props.dangerouslySetInnerHTML`.');
    }
    if (typeof inner !== 'object' || !('__html' in inner)) {
        throw new Error('`props.dangerouslySetInnerHTML` must be in the form `{__html: ...}`. Please visit https://react.dev/link/dangerously-set-inner-html for more information.');
    }
    const html = inner.__html;
    return html === null || html === undefined ? '' : '' + html;
}
/** The start tag without its `>`, of an element whose text is not rendered as children are. */
function startOfRaw(tag, props) {
    let html = '<' + tag;
    for (const name in props) {
        if (!hasOwn.call(props, name) || name === 'children' || name === 'dangerouslySetInnerHTML')
            continue;
        const value = props[name];
        if (value !== null && value !== undefined)
            html += attribute(name, value);
    }
    return html;
}
function own(props, name) {
    return hasOwn.call(props, name) ? props[name] : undefined;
}
export function scriptTag(props) {
    const children = own(props, 'children');
    const html = `${startOfRaw('script', props)}>${innerHtml(own(props, 'dangerouslySetInnerHTML'), children)}`;
    return `${html}${typeof children === 'string' ? escapeScript(children) : ''}</script>`;
}
/** The one child of a tag that takes only text; undefined when there is none that can be written. */
function onlyText(children) {
    let child = children;
    if (Array.isArray(children))
        child = children.length < 2 ? children[0] : null;
    if (typeof child === 'function' || typeof child === 'symbol' || child === null || child === undefined) {
        return undefined;
    }
    return '' + child;
}
export function titleTag(props) {
    const children = own(props, 'children');
    const text = onlyText(children);
    const html = innerHtml(own(props, 'dangerouslySetInnerHTML'), children);
    return `${startOfRaw('title', props)}>${text === undefined ? '' : escapeText(text)}${html}</title>`;
}
const STYLE_END = /(<\/|<)(s)(tyle)/gi;
/** Style text that cannot end its element. */
export function styleText(props) {
    const children = own(props, 'children');
    const text = onlyText(children) ?? '';
    const escaped = text.replace(STYLE_END, (_match, open, s, rest) => open + (s === 's' ? '\\73 ' : '\\53 ') + rest);
    return escaped + innerHtml(own(props, 'dangerouslySetInnerHTML'), children);
}
export function styleTag(props) {
    return `${startOfRaw('style', props)}>${styleText(props)}</style>`;
}
//# sourceMappingURL=script.js.map