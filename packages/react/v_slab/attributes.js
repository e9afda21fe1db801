/**
 * Attributes of ordinary elements. What a name does (its spelling, whether it takes booleans, numbers or URLs) is not kept in a
 * table here: the first time a name is met, the app's own react-dom is asked with a set of telling values, and the rule whose
 * answers are all the same as react-dom's is remembered. No rule the same: react-dom is asked every time.
 */
import { escapeHtml, escapeText } from './escape.js';
import { ELEMENT, ReactDOMServer } from './react.js';
const JAVASCRIPT_URL = 
// oxlint-disable-next-line no-control-regex -- these are the characters that browsers skip before a scheme
/^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
const BLOCKED_URL = "javascript:throw new Error('React has blocked a javascript: URL as a security precaution.')";
export function sanitizeUrl(url) {
    return JAVASCRIPT_URL.test(url) ? BLOCKED_URL : url;
}
const unprintable = (value) => typeof value === 'function' || typeof value === 'symbol';
const empty = (open) => `${open}"`;
const never = () => '';
const string = (open, value) => unprintable(value) || typeof value === 'boolean' ? '' : open + escapeHtml(value) + '"';
const stringOrBoolean = (open, value) => (unprintable(value) ? '' : open + escapeHtml(value) + '"');
const boolean = (open, value) => (!unprintable(value) && Boolean(value) ? empty(open) : '');
const overloaded = (open, value) => {
    if (value === true)
        return empty(open);
    return value === false || unprintable(value) ? '' : open + escapeHtml(value) + '"';
};
const numeric = (open, value) => unprintable(value) || Number.isNaN(Number(value)) ? '' : open + escapeHtml(value) + '"';
const positive = (open, value) => !unprintable(value) && Number(value) >= 1 ? numeric(open, value) : '';
const url = (open, value) => unprintable(value) || typeof value === 'boolean'
    ? ''
    : open + escapeText(sanitizeUrl('' + value)) + '"';
const urlUnlessEmpty = (open, value) => (value === '' ? '' : url(open, value));
const style = (_open, value) => styleAttribute(value);
/** Ordered so that, of rules which agree on all questions, the most general one is taken. */
const RULES = [
    never,
    string,
    stringOrBoolean,
    boolean,
    overloaded,
    positive,
    numeric,
    url,
    urlUnlessEmpty,
];
const QUESTIONS = [
    'x',
    '',
    '5',
    '0.5',
    'javascript:x',
    true,
    false,
    0,
    1,
    -3,
    Number.NaN,
    () => 0,
    Symbol('x'),
    ['a'],
];
/** Names come from the app's source, rarely from its data; a page that makes up names must not fill the memory. */
const REMEMBERED_MAX = 4096;
const attributes = new Map([['style', { plain: false, rule: style, open: '' }]]);
/** The attribute with its leading space, or ''. `value` is neither null nor undefined. */
export function attribute(name, value) {
    const known = attributes.get(name) ?? learnAttribute(name);
    if (known.plain && typeof value === 'string')
        return known.open + escapeText(value) + '"';
    return known.rule(known.open, value);
}
/** The attribute under exactly this name, for the few that react-dom spells itself. */
export function namedAttribute(name, value) {
    return string(` ${name}="`, value);
}
export function booleanAttribute(name, value) {
    return boolean(` ${name}="`, value);
}
function learnAttribute(name) {
    const answers = QUESTIONS.map((question) => askReactDOM('div', { [name]: question }));
    const spelled = answers.find((answer) => answer !== '');
    const open = spelled === undefined ? '' : spelled.slice(0, spelled.indexOf('"') + 1);
    const rule = RULES.find((candidate) => QUESTIONS.every((question, at) => candidate(open, question) === answers[at]));
    const learned = {
        plain: rule === string || rule === stringOrBoolean,
        rule: rule ?? ((_open, value) => askReactDOM('div', { [name]: value })),
        open,
    };
    if (attributes.size >= REMEMBERED_MAX)
        attributes.clear();
    attributes.set('style', { plain: false, rule: style, open: '' });
    attributes.set(name, learned);
    return learned;
}
/** What react-dom puts between the tag's name and its end. */
function askReactDOM(tag, props) {
    const element = { $$typeof: ELEMENT, type: tag, key: null, ref: null, props, _owner: null };
    const html = ReactDOMServer.renderToStaticMarkup(element);
    return html.slice(tag.length + 1, html.indexOf(`></${tag}>`));
}
// Custom elements ------------------------------------------------------------------------------------------------
const customNames = new Map();
/** As react-dom 19 writes a property of a custom element; '' when the name or the value cannot be written. */
export function customAttribute(name, value) {
    if (name === 'style')
        return styleAttribute(value);
    let open = customNames.get(name);
    if (open === undefined) {
        const answer = askReactDOM('x-x', { [name]: 'x' });
        open = answer.slice(0, answer.indexOf('"') + 1);
        if (customNames.size >= REMEMBERED_MAX)
            customNames.clear();
        customNames.set(name, open);
    }
    if (open === '' || value === false || unprintable(value))
        return '';
    if (value === true)
        return empty(open);
    return typeof value === 'object' ? '' : open + escapeHtml(value) + '"';
}
const styleProperties = new Map();
const hasOwn = Object.prototype.hasOwnProperty;
export function styleAttribute(value) {
    if (typeof value !== 'object') {
        throw new Error("The `style` prop expects a mapping from style properties to values, not a string. For example, style={{marginRight: spacing + 'em'}} when using JSX.");
    }
    const styles = value;
    let css = '';
    for (const name in styles) {
        if (!hasOwn.call(styles, name))
            continue;
        const part = styles[name];
        if (part === null || part === undefined || typeof part === 'boolean' || part === '')
            continue;
        css += (css === '' ? ' style="' : ';') + styleDeclaration(name, part);
    }
    return css === '' ? '' : css + '"';
}
function styleDeclaration(name, value) {
    if (name.startsWith('--'))
        return `${escapeText(name)}:${escapeText(('' + value).trim())}`;
    const property = styleProperties.get(name) ?? learnStyleProperty(name);
    if (typeof value === 'number')
        return property.open + value + (value === 0 || property.unitless ? '' : 'px');
    return property.open + escapeText(('' + value).trim());
}
function learnStyleProperty(name) {
    const answer = askReactDOM('div', { style: { [name]: 1 } });
    const learned = {
        open: answer.slice(' style="'.length, answer.lastIndexOf(':') + 1),
        unitless: answer.endsWith(':1"'),
    };
    if (styleProperties.size >= REMEMBERED_MAX)
        styleProperties.clear();
    styleProperties.set(name, learned);
    return learned;
}
//# sourceMappingURL=attributes.js.map