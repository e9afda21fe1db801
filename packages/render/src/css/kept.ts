/**
 * Compiled styles in a folder that outlives a deploy: pages of the old build stay styled as they were. The secret of the
 * keys is there as well. It must not know what styles are made of. Everything in it can be deleted but for the secret.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Bounds how many sets are kept; the ones that were used longest ago go first. */
const SETS_MAX = 1_000;
/** Number of files that are written until they are counted. */
const COUNT_EVERY = 50;
const SECRET_FILE = 'secret';
/** Bounds names of files; longer keys are not kept. */
const NAME_CHARACTERS_MAX = 240;

export class KeptSets {
  readonly #folder: string;
  #written = 0;
  readonly secret: string;

  /** Makes the folder and the secret where there is none. Throws where that cannot be. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.secret = sharedSecret(path.join(folder, SECRET_FILE));
  }

  /** Keys are checked by the caller, and have no character that means something in a path. */
  async get(key: string): Promise<string | undefined> {
    if (key.length > NAME_CHARACTERS_MAX) return undefined;
    try {
      const file = path.join(this.#folder, `${key}.css`);
      const css = await readFile(file, 'utf8');
      const now = new Date();
      await utimes(file, now, now).catch(() => undefined);
      return css;
    } catch {
      return undefined; // Not kept, or not readable: it is compiled again.
    }
  }

  async set(key: string, css: string): Promise<void> {
    if (key.length > NAME_CHARACTERS_MAX) return;
    const temporary = path.join(this.#folder, `.${process.pid}-${randomBytes(6).toString('hex')}`);
    await writeFile(temporary, css, { mode: 0o600 });
    await rename(temporary, path.join(this.#folder, `${key}.css`));
    this.#written += 1;
    if (this.#written % COUNT_EVERY === 1) await this.#removeOldest();
  }

  async #removeOldest(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.css'));
    if (names.length <= SETS_MAX) return;
    const used = await Promise.all(
      names.map(async (name) => {
        const file = path.join(this.#folder, name);
        return {
          file,
          at_ms: await stat(file).then(
            ({ mtimeMs }) => mtimeMs,
            () => 0,
          ),
        };
      }),
    );
    used.sort((left, right) => left.at_ms - right.at_ms);
    await Promise.all(
      used.slice(0, used.length - SETS_MAX).map(async ({ file }) => rm(file, { force: true })),
    );
  }
}

/**
 * Returns the secret of several workers that start at once: one makes it and the others read it. A link appears whole
 * or not at all.
 */
function sharedSecret(file: string): string {
  const temporary = `${file}.${process.pid}-${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, randomBytes(32).toString('base64url'), { mode: 0o600 });
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(file, 'utf8');
}
