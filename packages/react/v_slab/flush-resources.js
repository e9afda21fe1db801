import { SHEET_PENDING, SHEET_PRELOADED, SHEET_WRITTEN, linkTag, } from './resources.js';
function writeAll(sink, resources) {
    for (const resource of resources) {
        sink.text(resource.html);
        resource.html = '';
    }
}
function drain(sink, resources) {
    writeAll(sink, resources);
    resources.clear();
}
/** All but what was hoisted, which the caller writes last. */
export function writeHeadResources(resources, sink) {
    sink.text(resources.charset);
    resources.charset = '';
    drain(sink, resources.preconnects);
    sink.text(resources.viewport);
    resources.viewport = '';
    drain(sink, resources.fontPreloads);
    drain(sink, resources.highImagePreloads);
    for (const queue of resources.styles.values())
        writeStyles(resources, sink, queue);
    sink.text(resources.importMap);
    resources.importMap = '';
    writeAll(sink, resources.bootstrapPreloads);
    drain(sink, resources.scripts);
    drain(sink, resources.bulkPreloads);
}
function writeStyles(resources, sink, queue) {
    const hadSheets = queue.sheets.size > 0;
    for (const sheet of queue.sheets.values()) {
        sink.text(linkTag(sheet.props));
        sheet.state = SHEET_WRITTEN;
    }
    queue.sheets.clear();
    const { hrefs } = queue;
    // A precedence without any sheet is written too: it keeps its place among the others.
    if (hadSheets && hrefs.length === 0)
        return;
    const names = hrefs.length === 0 ? '' : `" data-href="${hrefs.join(' ')}`;
    sink.text(`${resources.openStyle} data-precedence="${queue.precedence}${names}">${queue.rules}</style>`);
    queue.rules = '';
    queue.hrefs = [];
}
export function writeLateResources(resources, sink) {
    sink.text(resources.viewport);
    resources.viewport = '';
    drain(sink, resources.preconnects);
    drain(sink, resources.fontPreloads);
    drain(sink, resources.highImagePreloads);
    for (const queue of resources.styles.values()) {
        for (const sheet of queue.sheets.values()) {
            if (sheet.state !== SHEET_PENDING)
                continue;
            sheet.state = SHEET_PRELOADED;
            sink.text(linkTag(stylePreload(sheet.props)));
        }
        queue.sheets.clear();
    }
    drain(sink, resources.scripts);
    drain(sink, resources.bulkPreloads);
    sink.text(resources.hoisted);
    resources.hoisted = '';
}
function stylePreload(props) {
    const { href, crossOrigin, fetchPriority, integrity, media, hrefLang, referrerPolicy } = props;
    return {
        rel: 'preload',
        as: 'style',
        href,
        crossOrigin,
        fetchPriority,
        integrity,
        media,
        hrefLang,
        referrerPolicy,
    };
}
/** Inline styles of a late boundary, kept from applying until it is shown; notes when anything has to be put into the head. */
export function writeStylesForBoundary(resources, sink, hoistables) {
    let hasStyles = false;
    for (const queue of hoistables.styles) {
        const { hrefs } = queue;
        if (hrefs.length === 0)
            continue;
        hasStyles = true;
        const names = hrefs.join(' ');
        sink.text(`${resources.openStyle} media="not all" data-precedence="${queue.precedence}" data-href="${names}">${queue.rules}</style>`);
        queue.rules = '';
        queue.hrefs = [];
    }
    for (const sheet of hoistables.stylesheets)
        if (sheet.state !== SHEET_WRITTEN)
            hasStyles = true;
    if (hasStyles)
        resources.stylesToHoist = true;
}
//# sourceMappingURL=flush-resources.js.map