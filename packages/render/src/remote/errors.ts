/** Reasons for the lack of a remote component's HTML. It must not know how it was asked for. */

/**
 * - `late`: no answer within the time limit.
 * - `error`: the service could not be reached, answered nonsense, or its component threw.
 * - `open`: the service was not asked, because it failed too often shortly before.
 * - `aborted`: nobody waits any more.
 */
export type RemoteReason = 'late' | 'error' | 'open' | 'aborted';

export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly reason: RemoteReason;

  constructor(reason: RemoteReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
