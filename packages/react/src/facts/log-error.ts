/** Treatment of an error when the app gives no `onError`. */
import { profile } from './profile.js';

const BADGE_STYLE =
  'background: #e6e6e6;background: light-dark(rgba(0,0,0,0.1), rgba(255,255,255,0.25));color: #000000;color: light-dark(#000000, #ffffff);border-radius: 2px';

/** An error that comes from elsewhere, as with server components, says where from. */
export function logError(error: unknown): null {
  const { environmentName } = (typeof error === 'object' && error !== null ? error : {}) as {
    environmentName?: unknown;
  };
  if (typeof environmentName !== 'string' || profile.badgeEnd === null) console.error(error);
  else
    console.error(
      `\u001b[0m\u001b[7m%c%s\u001b[0m%c${profile.badgeEnd}`,
      BADGE_STYLE,
      ` ${environmentName} `,
      '',
      error,
    );
  return null;
}
