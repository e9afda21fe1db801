/** Thrown where the renderer knows that it would not write what react-dom writes: the render then is react-dom's. */
export class Unsupported extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`Not rendered by Sluice: ${reason}`);
    this.reason = reason;
  }
}

let inStreams: string | null = null;

/**
 * Leaves the streams of this process to react-dom, from their beginning: a feature was met in a page of which a part had been
 * sent.
 */
export function leaveStreams(reason: string): void {
  inStreams = reason;
}

/** Returns the reason for which no stream of this process can be ours any more; null while they can. */
export function unsupportedInStreams(): string | null {
  return inStreams;
}
