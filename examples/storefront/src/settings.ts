/** What the environment can change about the shop. */

export interface Settings {
  secret: string;
  wait_scale: number;
}

// Fixed, so that all workers agree without any set-up: this shop guards nothing.
const demoSecret = 'tidewick-example-only';

export function settings(env: NodeJS.ProcessEnv = process.env): Settings {
  const scale = Number(env['STOREFRONT_WAIT_SCALE'] ?? 1);
  return {
    secret: env['STOREFRONT_SECRET'] ?? demoSecret,
    wait_scale: Number.isFinite(scale) && scale >= 0 ? scale : 1,
  };
}
