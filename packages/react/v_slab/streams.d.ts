/** `renderToPipeableStream` and `renderToReadableStream`. */
import type { Writable } from 'node:stream';
import { Render, type RenderOptions, type Sink } from './work.js';
export interface StreamOptions extends RenderOptions {
    namespaceURI?: string | undefined;
}
/** Starts a render; `onUnsupported` is called, before anything has been said or sent, when it has to be react-dom's. */
export declare function startStream(children: unknown, options: StreamOptions, onUnsupported: (reason: string) => void): Render;
export declare function startFlowing(render: Render, sink: Sink): void;
export interface Pipeable {
    pipe<Destination extends Writable>(destination: Destination): Destination;
    abort(reason?: unknown): void;
}
/** `renderWithReactDOM` takes over when this renderer cannot do it; then nothing has been piped yet. */
export declare function pipeableStream(children: unknown, options: StreamOptions, renderWithReactDOM: (reason: string, headersAreSent: boolean) => Pipeable): Pipeable;
export interface ReadableOptions extends Omit<StreamOptions, 'onHeaders'> {
    signal?: AbortSignal | undefined;
    onHeaders?: ((headers: Headers) => void) | undefined;
}
export type RenderedStream = ReadableStream<Uint8Array> & {
    allReady: Promise<void>;
};
export declare function readableStream(children: unknown, options: ReadableOptions, renderWithReactDOM: (reason: string) => Promise<RenderedStream>): Promise<RenderedStream>;
