export { type Batch, LIMITS } from './batch.js';
export { type Known, checkBatch } from './check.js';
export * from './codes.js';
export { StreamError } from './errors.js';
export { type EventSink, EventWriter, PHASE, readEvents } from './events.js';
export { parseBatch } from './parse.js';
export { printBatch } from './text.js';
export { WireReader, encodeBatch, encodePrologue } from './wire.js';
