const HEADER_CHARACTERS_MAX = 2000;
export function createHeaderHints(maxHeadersLength) {
    const capacity = typeof maxHeadersLength === 'number' ? maxHeadersLength : HEADER_CHARACTERS_MAX;
    // The first hint has no separator, whose two characters every hint is charged for.
    return { preconnects: '', fontPreloads: '', highImagePreloads: '', remainingCapacity: 2 + capacity };
}
/** True when the hint fits; what does not fit uses up the capacity all the same, as in react-dom. */
export function addHint(hints, list, hint) {
    if (hints === null || hints.remainingCapacity <= 0)
        return false;
    const text = hint();
    if (!takeCapacity(hints, text))
        return false;
    hints[list] += (hints[list] === '' ? '' : ', ') + text;
    return true;
}
export function takeCapacity(hints, text) {
    hints.remainingCapacity -= text.length + 2;
    return hints.remainingCapacity >= 0;
}
const IN_URL = { '<': '%3C', '>': '%3E', '\n': '%0A', '\r': '%0D' };
const IN_PARAMETER = {
    '"': '%22',
    "'": '%27',
    ';': '%3B',
    ',': '%2C',
    '\n': '%0A',
    '\r': '%0D',
};
export function hintUrl(href) {
    return `${href}`.replace(/[<>\r\n]/g, (character) => IN_URL[character]);
}
export function hintParameter(value) {
    return `${value}`.replace(/["';,\r\n]/g, (character) => IN_PARAMETER[character]);
}
const hasOwn = Object.prototype.hasOwnProperty;
export function preloadHint(href, as, parameters) {
    let hint = `<${hintUrl(href)}>; rel=preload; as="${hintParameter(as)}"`;
    for (const name in parameters) {
        if (!hasOwn.call(parameters, name))
            continue;
        const value = parameters[name];
        if (typeof value === 'string')
            hint += `; ${name.toLowerCase()}="${hintParameter(value)}"`;
    }
    return hint;
}
//# sourceMappingURL=headers.js.map