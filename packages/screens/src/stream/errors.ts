/** Error of a batch, a stream of bytes, events or a text form that breaks a rule of the stream. Nothing of it has been applied. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  /** Place of the fault: a word of a batch, a byte of a stream, or a line of a text, each from 0. */
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
