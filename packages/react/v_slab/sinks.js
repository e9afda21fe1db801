/** For the renders that give a string: they are flushed once, to the end. */
export class StringSink {
    html = '';
    error;
    failed = false;
    text(html) {
        this.html += html;
    }
    bytes(part) {
        this.html += part.view().toString();
    }
    flush() {
        // Nobody reads before the end.
    }
    hasCapacity() {
        return true;
    }
    end() {
        // The string is complete.
    }
    destroy(error) {
        this.failed = true;
        this.error = error;
    }
}
/** Gathers short pieces; stretches that are long already go out as they are, in their order. */
const CHUNK_BYTES = 16_384;
const COPIED_BYTES_MAX = 2048;
const ASKED_BYTES = 4096;
class ChunkedSink {
    #chunk = Buffer.alloc(0);
    #used = 0;
    #capacity = true;
    text(html) {
        if (html === '')
            return;
        const needed = html.length * 3;
        if (needed > CHUNK_BYTES) {
            this.#passOn();
            this.#hand(Buffer.from(html));
            return;
        }
        this.#makeRoom(needed);
        this.#used += this.#chunk.write(html, this.#used);
    }
    bytes(part) {
        if (part.length > COPIED_BYTES_MAX) {
            this.#passOn();
            this.#hand(part.view());
            return;
        }
        this.#makeRoom(part.length);
        this.#used += part.slab.copy(this.#chunk, this.#used, part.start, part.end);
    }
    flush() {
        this.#passOn();
        this.#capacity = true;
    }
    hasCapacity() {
        // The reader is asked as often as react-dom asks: with every 4 KB.
        if (this.#used >= ASKED_BYTES)
            this.#passOn();
        return this.#capacity;
    }
    #makeRoom(bytes) {
        if (this.#chunk.length - this.#used >= bytes)
            return;
        this.#passOn();
        this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    }
    #passOn() {
        if (this.#used === 0)
            return;
        const chunk = this.#chunk.subarray(0, this.#used);
        // What is left of the buffer serves the next pieces of this render; what was handed on is not touched again.
        this.#chunk = this.#chunk.subarray(this.#used);
        this.#used = 0;
        this.#hand(chunk);
    }
    #hand(chunk) {
        if (!this.write(chunk))
            this.#capacity = false;
    }
}
export class WritableSink extends ChunkedSink {
    #destination;
    constructor(destination) {
        super();
        this.#destination = destination;
    }
    write(chunk) {
        return this.#destination.write(chunk);
    }
    flush() {
        super.flush();
        // Compressing middlewares add this method.
        if (typeof this.#destination.flush === 'function')
            this.#destination.flush();
    }
    end() {
        this.#destination.end();
    }
    destroy(error) {
        this.#destination.destroy(error);
    }
}
export class ReadableSink extends ChunkedSink {
    #controller;
    constructor(controller) {
        super();
        this.#controller = controller;
    }
    write(chunk) {
        // The stream takes the memory behind a chunk for itself, so each gets its own.
        this.#controller.enqueue(new Uint8Array(chunk));
        return true;
    }
    end() {
        this.#controller.close();
    }
    destroy(error) {
        this.#controller.error(error);
    }
}
//# sourceMappingURL=sinks.js.map