/** Treatment of errors: the app is told, with the components around, and names a digest for the client. */
import { describeStack } from './component-stack.js';
import type { StackNode } from './paths.js';
import { isRecoverableError } from '../facts/recoverable.js';
import { Unsupported } from '../facts/unsupported.js';
import { profile } from '../facts/profile.js';
import type { ErrorInfo, Render } from './render.js';

/** The stack is spelled out only when somebody reads it. */
export function thrownInfo(stack: StackNode | null): ErrorInfo {
  const info: ErrorInfo = {};
  if (stack === null) return info;
  Object.defineProperty(info, 'componentStack', {
    configurable: true,
    enumerable: true,
    get() {
      const value = describeStack(stack);
      Object.defineProperty(info, 'componentStack', { value });
      return value;
    },
  });
  return info;
}

/** Tells the app; returns the digest that the client gets, if any. */
export function logRecoverable(render: Render, error: unknown, info: ErrorInfo): string | undefined {
  if (error instanceof Unsupported && render.mayFallBack) throw error;
  if (isRecoverableError(error)) {
    render.onBrowserBailout(error, info);
    if (render.mayFallBack) render.toldErrors.push({ error, digest: '' });
    return '';
  }
  const digest = render.onError(error, info);
  if (render.mayFallBack) render.toldErrors.push({ error, digest });
  if (profile.reports === 'errors' && digest !== null && digest !== undefined && typeof digest !== 'string') {
    throw new Error(
      `onError returned something with a type other than "string". onError should return a string and may return null or undefined but must not return anything else. It received something of type "${typeof digest}" instead`,
    );
  }
  return typeof digest === 'string' && digest !== '' ? digest : undefined;
}
