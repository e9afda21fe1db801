export const ROOT = 0;
export const DOCUMENT = 1;
export const HTML = 2;
export const HEAD = 3;
export const SVG = 4;
export const MATHML = 5;
export const TABLE = 6;
export const TABLE_BODY = 7;
export const TABLE_ROW = 8;
export const COLUMN_GROUP = 9;
// Bits of `scope`.
export const IN_NOSCRIPT = 1;
export const IN_PICTURE = 2;
export const IN_FALLBACK = 4;
/** Directly in a Suspense fallback or content, no host element between. */
const MAY_EXIT = 8;
const MAY_ENTER = 16;
const ANIMATES_UPDATES = 32;
export const SHOWS_WITH_IMAGES = 64;
/** Set in `RenderState.instructions` when the client needs the script that animates late content. */
export const NEEDS_VIEW_TRANSITIONS = 128;
function create(mode, selected, scope, transition) {
    const plain = mode >= HTML && mode < TABLE && transition === null && (scope & (MAY_EXIT | MAY_ENTER)) === 0;
    return { mode, selected, scope, transition, plain };
}
const UNSCOPED = Array.from({ length: 10 }, (_, mode) => create(mode, null, 0, null));
function inMode(mode, scope) {
    return scope === 0 ? UNSCOPED[mode] : create(mode, null, scope, null);
}
export function rootFormat(namespaceURI) {
    if (namespaceURI === 'http://www.w3.org/2000/svg')
        return inMode(SVG, 0);
    if (namespaceURI === 'http://www.w3.org/1998/Math/MathML')
        return inMode(MATHML, 0);
    return inMode(ROOT, 0);
}
/** The tags whose children are elsewhere than the tag itself is. */
export const FORMATTING_TAGS = new Set('noscript select svg picture math foreignObject table thead tbody tfoot colgroup tr head html'.split(' '));
export function childFormat(parent, tag, props) {
    const scope = parent.scope & ~(MAY_EXIT | MAY_ENTER);
    switch (tag) {
        case 'noscript':
            return inMode(HTML, scope | IN_NOSCRIPT);
        case 'select':
            return create(HTML, props['value'] ?? props['defaultValue'], scope, null);
        case 'svg':
            return inMode(SVG, scope);
        case 'picture':
            return inMode(HTML, scope | IN_PICTURE);
        case 'math':
            return inMode(MATHML, scope);
        case 'foreignObject':
            return inMode(HTML, scope);
        case 'table':
            return inMode(TABLE, scope);
        case 'thead':
        case 'tbody':
        case 'tfoot':
            return inMode(TABLE_BODY, scope);
        case 'colgroup':
            return inMode(COLUMN_GROUP, scope);
        case 'tr':
            return inMode(TABLE_ROW, scope);
        case 'head':
            if (parent.mode < HTML)
                return inMode(HEAD, scope);
            break;
        case 'html':
            if (parent.mode === ROOT)
                return inMode(DOCUMENT, scope);
            break;
        default:
    }
    if (parent.mode >= TABLE || parent.mode < HTML)
        return inMode(HTML, scope);
    if (parent.transition !== null || parent.scope !== scope)
        return create(parent.mode, parent.selected, scope, null);
    return parent;
}
function suspendedTransition(parent) {
    if (parent === null)
        return null;
    const { update, autoName } = parent;
    return { update, enter: 'none', exit: 'none', share: update, name: autoName, autoName, nameIndex: 0 };
}
export function fallbackFormat(state, parent) {
    if (parent.scope & ANIMATES_UPDATES)
        state.instructions |= NEEDS_VIEW_TRANSITIONS;
    const scope = parent.scope | IN_FALLBACK | MAY_EXIT;
    return create(parent.mode, parent.selected, scope, suspendedTransition(parent.transition));
}
export function contentFormat(parent) {
    const transition = suspendedTransition(parent.transition);
    let scope = parent.scope | MAY_ENTER;
    if (transition !== null && transition.share !== 'none')
        scope |= SHOWS_WITH_IMAGES;
    return create(parent.mode, parent.selected, scope, transition);
}
function className(byDefault, byEvent) {
    const plain = (value) => typeof value === 'object' && value !== null
        ? value.default
        : value;
    const general = plain(byDefault);
    const special = plain(byEvent);
    if (special === null || special === undefined)
        return general === 'auto' ? null : general;
    return special === 'auto' ? null : special;
}
export function transitionFormat(state, parent, props, autoName) {
    const update = className(props['default'], props['update']) ?? 'auto';
    let enter = className(props['default'], props['enter']) ?? 'auto';
    let exit = className(props['default'], props['exit']) ?? 'auto';
    let share = className(props['default'], props['share']);
    let name = props['name'];
    if (name === null || name === undefined) {
        name = parent.transition === null ? 'auto' : parent.transition.name;
        share = parent.transition === null ? 'none' : parent.transition.share;
    }
    else {
        share ??= 'auto';
        if (parent.scope & IN_FALLBACK)
            state.instructions |= NEEDS_VIEW_TRANSITIONS;
    }
    if (parent.scope & MAY_EXIT)
        state.instructions |= NEEDS_VIEW_TRANSITIONS;
    else
        exit = 'none';
    if (parent.scope & MAY_ENTER)
        state.instructions |= NEEDS_VIEW_TRANSITIONS;
    else
        enter = 'none';
    let scope = parent.scope & ~(MAY_EXIT | MAY_ENTER);
    scope = update === 'none' ? scope & ~ANIMATES_UPDATES : scope | ANIMATES_UPDATES;
    if (enter !== 'none')
        scope |= SHOWS_WITH_IMAGES;
    const transition = { update, enter, exit, share: share, name, autoName, nameIndex: 0 };
    return create(parent.mode, parent.selected, scope, transition);
}
//# sourceMappingURL=format.js.map