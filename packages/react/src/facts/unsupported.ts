/** Thrown where the renderer knows that it would not write what react-dom writes: the render then is react-dom's. */
export class Unsupported extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`Not rendered by Sluice: ${reason}`);
    this.reason = reason;
  }
}

let inStreams: string | null = null;

/** It was met in a page of which a part had been sent: react-dom renders the streams of this process from their beginning. */
export function leaveStreams(reason: string): void {
  inStreams = reason;
}

/** Why no stream of this process can be ours any more; null while they can. */
export function unsupportedInStreams(): string | null {
  return inStreams;
}
