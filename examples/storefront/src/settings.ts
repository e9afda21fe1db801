/** What the environment can change about the shop. */

export interface Settings {
  /** Signs cookies in place of the secret in the database; `null` for that one. */
  secret: string | null;
  /** Folder of the database; `null` for the one beside the shop. */
  data_folder: string | null;
  wait_scale: number;
  /** Pages that take more CPU time than this are named in the log. */
  heavy_ms: number;
  /** Where the service of suggestions takes batches. */
  suggestions_url: string;
}

const secretLengthMin = 32;

/** Throws an Error that says what to do, where a value cannot be used. */
export function settings(env: NodeJS.ProcessEnv = process.env): Settings {
  return {
    secret: secretIn(env['STOREFRONT_SECRET']),
    data_folder: env['STOREFRONT_DATA'] ?? null,
    wait_scale: positive(env['STOREFRONT_WAIT_SCALE'], 1),
    heavy_ms: positive(env['STOREFRONT_HEAVY_MS'], 250),
    suggestions_url: env['STOREFRONT_SUGGESTIONS'] ?? 'http://127.0.0.1:3100/batch',
  };
}

function secretIn(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.length >= secretLengthMin) return text;
  throw new Error(
    `STOREFRONT_SECRET has ${text.length} characters and needs ${secretLengthMin} or more: \`openssl rand -base64 32\` makes one. Without it the shop makes its own.`,
  );
}

function positive(text: string | undefined, fallback: number): number {
  const value = Number(text ?? fallback);
  return Number.isFinite(value) && value >= 0 ? value : fallback;
}
