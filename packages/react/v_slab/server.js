import { countFallback, countRender, reasonToDelegate } from './fallback.js';
import { ReactDOMServer, version } from './react.js';
import { pipeableStream, readableStream } from './streams.js';
import { renderString } from './strings.js';
import { Unsupported } from './unsupported.js';
export { onFallback, statistics } from './fallback.js';
export { version };
export function renderToString(children, options) {
    return stringOf(children, options, 'renderToString');
}
export function renderToStaticMarkup(children, options) {
    return stringOf(children, options, 'renderToStaticMarkup');
}
const MODES = { renderToString: 'string', renderToStaticMarkup: 'markup' };
function stringOf(children, options, api) {
    countRender();
    let reason = reasonToDelegate();
    if (reason === null) {
        try {
            return renderString(children, MODES[api], options ? options.identifierPrefix : undefined);
        }
        catch (error) {
            if (!(error instanceof Unsupported))
                throw error;
            reason = error.reason;
        }
    }
    countFallback({ reason, api });
    return ReactDOMServer[api](children, options);
}
export function renderToPipeableStream(children, options) {
    const api = 'renderToPipeableStream';
    countRender();
    const renderWithReactDOM = (reason, headersAreSent = false) => {
        countFallback({ reason, api });
        const { onHeaders: _sent, ...rest } = options ?? {};
        return ReactDOMServer.renderToPipeableStream(children, headersAreSent ? rest : options);
    };
    const reason = reasonToDelegate();
    if (reason !== null)
        return renderWithReactDOM(reason);
    const stream = pipeableStream(children, (options ?? {}), renderWithReactDOM);
    return stream;
}
export function renderToReadableStream(children, options) {
    const api = 'renderToReadableStream';
    countRender();
    const renderWithReactDOM = (reason) => {
        countFallback({ reason, api });
        return ReactDOMServer.renderToReadableStream(children, options);
    };
    const reason = reasonToDelegate();
    if (reason !== null)
        return renderWithReactDOM(reason);
    return readableStream(children, (options ?? {}), renderWithReactDOM);
}
export async function prerender(children, options) {
    countRender();
    countFallback({ reason: reasonToDelegate() ?? 'prerender', api: 'prerender' });
    const { prerender: render } = await import('react-dom/static');
    return render(children, options);
}
export async function prerenderToNodeStream(children, options) {
    countRender();
    countFallback({ reason: reasonToDelegate() ?? 'prerender', api: 'prerenderToNodeStream' });
    const { prerenderToNodeStream: render } = await import('react-dom/static');
    return render(children, options);
}
//# sourceMappingURL=server.js.map