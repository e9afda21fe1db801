/** What the environment can change about the shop. */

export interface Settings {
  secret: string;
  wait_scale: number;
  /** Pages that take more CPU time than this are named in the log. */
  heavy_ms: number;
  /** Where the service of suggestions takes batches. */
  suggestions_url: string;
}

// Fixed, so that all workers agree without any set-up: this shop guards nothing.
const demoSecret = 'tidewick-example-only';

export function settings(env: NodeJS.ProcessEnv = process.env): Settings {
  return {
    secret: env['STOREFRONT_SECRET'] ?? demoSecret,
    wait_scale: positive(env['STOREFRONT_WAIT_SCALE'], 1),
    heavy_ms: positive(env['STOREFRONT_HEAVY_MS'], 250),
    suggestions_url: env['STOREFRONT_SUGGESTIONS'] ?? 'http://127.0.0.1:3100/batch',
  };
}

function positive(text: string | undefined, fallback: number): number {
  const value = Number(text ?? fallback);
  return Number.isFinite(value) && value >= 0 ? value : fallback;
}
