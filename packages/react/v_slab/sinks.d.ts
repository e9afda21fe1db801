/** Where flushed HTML goes: a string, a Node stream, or a web stream. */
import type { Writable } from 'node:stream';
import type { Bytes } from './encode.js';
import type { Sink } from './work.js';
/** For the renders that give a string: they are flushed once, to the end. */
export declare class StringSink implements Sink {
    html: string;
    error: unknown;
    failed: boolean;
    text(html: string): void;
    bytes(part: Bytes): void;
    flush(): void;
    hasCapacity(): boolean;
    end(): void;
    destroy(error: unknown): void;
}
declare abstract class ChunkedSink implements Sink {
    #private;
    protected abstract write(chunk: Buffer): boolean;
    abstract end(): void;
    abstract destroy(error: unknown): void;
    text(html: string): void;
    bytes(part: Bytes): void;
    flush(): void;
    hasCapacity(): boolean;
}
export declare class WritableSink extends ChunkedSink {
    #private;
    constructor(destination: Writable);
    protected write(chunk: Buffer): boolean;
    flush(): void;
    end(): void;
    destroy(error: unknown): void;
}
export declare class ReadableSink extends ChunkedSink {
    #private;
    constructor(controller: ReadableByteStreamController);
    protected write(chunk: Buffer): boolean;
    end(): void;
    destroy(error: unknown): void;
}
export {};
