/** Thrown where the renderer knows that it would not write what react-dom writes: the render then is react-dom's. */
export class Unsupported extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`Not rendered by Sluice: ${reason}`);
    this.reason = reason;
  }
}
