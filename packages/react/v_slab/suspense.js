/** Suspense: content that may come later or not at all, and a fallback in its place until then. */
import { contentFormat, fallbackFormat, HTML } from './format.js';
import { preparePreamble } from './preamble.js';
import { ALONE, renderNode } from './render.js';
import { addSegment, addTask, finishSegment, queueCompletedSegment, switchSegment } from './segments.js';
import { switchContexts } from './contexts.js';
import { logRecoverable, thrownInfo } from './errors.js';
import { resetHooks } from './hooks.js';
import { waitsForResources } from './resources.js';
import { ABORTED, Boundary, COMPLETED, ERRORED, PENDING, Segment } from './work.js';
/** Content shorter than this is never sent apart from what is around it. */
const OUTLINED_BYTES_MIN = 500;
/** Whether content that is ready may still be sent after its fallback, so as not to hold up the rest. */
export function mayBeOutlined(render, boundary) {
    if (boundary.preamble !== null || render.mode !== 'stream')
        return false;
    return boundary.byteSize > OUTLINED_BYTES_MIN || waitsForResources(boundary.content, false);
}
export function renderSuspense(render, props) {
    const { boundary: outer, preamble, hoistables, segment: around } = render;
    const { format, depth, forks, contexts, keyPath } = render;
    // Read before anything of the content runs, as react-dom does.
    const { fallback, children } = props;
    const fallbackTasks = new Set();
    const boundary = new Boundary(fallbackTasks, format.mode < HTML);
    const place = new Segment(boundary, format, false, false);
    addSegment(render, place);
    render.lastText = false;
    const content = new Segment(null, format, false, false);
    content.parentFlushed = true;
    render.chained = false;
    render.boundary = boundary;
    render.preamble = boundary.preamble?.content ?? null;
    render.hoistables = boundary.content;
    render.format = contentFormat(format);
    switchSegment(render, content);
    try {
        renderNode(render, children, ALONE);
        finishSegment(render, boundary);
        queueCompletedSegment(boundary, content);
        if (boundary.pendingTasks === 0 && boundary.status === PENDING) {
            boundary.status = COMPLETED;
            if (!mayBeOutlined(render, boundary)) {
                if (render.pendingRootTasks === 0 && render.preamble !== null)
                    preparePreamble(render);
                return;
            }
        }
    }
    catch (thrown) {
        resetHooks();
        boundary.status = ERRORED;
        content.status = render.aborted ? ABORTED : ERRORED;
        const error = render.aborted ? render.fatalError : thrown;
        boundary.errorDigest = logRecoverable(render, error, thrownInfo(render.stackAt(render.depth)));
    }
    finally {
        switchSegment(render, around);
        render.boundary = outer;
        render.preamble = preamble;
        render.hoistables = hoistables;
        render.format = format;
        render.depth = depth;
        render.forks = forks;
        if (render.contexts !== contexts) {
            switchContexts(contexts);
            render.contexts = contexts;
        }
    }
    const [parentPath = null, , place_ = null] = render.keyPathAt(depth) ?? [keyPath];
    render.pingedTasks.push(addTask(render, {
        node: fallback,
        index: ALONE,
        boundary: outer,
        segment: place,
        preamble: boundary.preamble?.fallback ?? null,
        hoistables: boundary.fallback,
        abortSet: fallbackTasks,
        keyPath: [parentPath, 'Suspense Fallback', place_],
        stack: { parent: render.stackAt(depth - 1), type: 'Suspense Fallback' },
        format: fallbackFormat(render.resources, format),
        contexts,
        treeId: render.currentTreeId(),
        thenables: null,
    }));
}
//# sourceMappingURL=suspense.js.map