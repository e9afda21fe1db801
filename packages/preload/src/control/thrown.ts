/**
 * Tells the gateway of an exception that nothing caught, with the request that was served then: a moment later nobody is left who
 * knows. What becomes of the exception is the app's and Node's own affair.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNativeError } from 'node:util/types';
import type { Control } from './control.js';
import { cpuUs, type OwnCpu } from '../cpu/own-cpu.js';
import { idOf } from '../requests/peer.js';

/** Maximum length of the first line that the gateway stores, characters. */
const CHARACTERS_MAX = 300;
/** Maximum examined length of a message, characters. */
const MESSAGE_MAX = 10_000;
/** Maximum length of a position, characters. File, line and column. */
const PLACE_MAX = 150;
/** The preload's own files, which are no app's. */
const OWN = fileURLToPath(new URL('../..', import.meta.url));
/** Variables whose values are left out of what is told, as in `gateway/supervisor/src/last_words.rs`. */
const SECRET = /key|token|secret|pass|\wpwd|credential|auth|dsn|cookie|session|connection|salt|_ur[il]/i;
/** The shell's own variables, which {@link SECRET} matches. */
const PUBLIC = new Set(['OLDPWD']);
/** A shorter value would also be found in ordinary words. */
const SECRET_LENGTH_MIN = 6;
const FRAME = /^\s*at (?:.* \()?(?:async )?(\S.*?):(\d+):(\d+)\)?$/;

export function tellThrown(control: Control, cpu: OwnCpu): void {
  process.on('uncaughtExceptionMonitor', (thrown: unknown, origin: string) => {
    const { running } = cpu;
    const id = running === undefined ? undefined : idOf(running.label);
    // A small line to a unix socket still goes out while the process exits.
    control.send({
      type: 'threw',
      text:
        (origin === 'unhandledRejection' ? 'unhandled rejection: ' : '') +
        firstLine(thrown) +
        placeOf(thrown),
      cpu_us_total: cpuUs(),
      ...(id !== undefined && { id }),
    });
  });
}

/** Anything can be thrown, and its properties may throw in turn. Values of secret environment variables are left out. */
export function firstLine(thrown: unknown): string {
  try {
    const isError = isNativeError(thrown) || thrown instanceof Error;
    const text = isError ? `${cut(thrown.name)}: ${reasonOf(thrown)}` : `thrown: ${cut(thrown)}`;
    return withoutSecrets(text.split('\n', 1)[0] ?? '').slice(0, CHARACTERS_MAX);
  } catch {
    return 'an exception that cannot be read';
  }
}

/** Node wraps a rejection with what is no error into a sentence of advice, which ends with what was rejected. */
function reasonOf(error: Error): string {
  const message = cut(error.message);
  const isWrapped = 'code' in error && error.code === 'ERR_UNHANDLED_REJECTION';
  return isWrapped
    ? message.replace(/^This error originated .* with the reason /s, 'rejected with ')
    : message;
}

/** ` (file:line:column)` of the innermost call in the app's own code, else in its packages; empty if there is none. */
export function placeOf(thrown: unknown): string {
  try {
    const stack = isNativeError(thrown) || thrown instanceof Error ? cut(thrown.stack) : '';
    const frames = stack
      .split('\n')
      .map((line) => FRAME.exec(line))
      .filter((frame) => frame !== null)
      .map(([, file = '', line = '', column = '']) => ({ file: pathOf(file), at: `${line}:${column}` }))
      .filter(({ file }) => path.isAbsolute(file) && !file.startsWith(OWN));
    const found = frames.find(({ file }) => !file.includes('/node_modules/')) ?? frames[0];
    if (found === undefined) return '';
    const inside = path.relative(process.cwd(), found.file);
    const place = `${inside.startsWith('..') ? found.file : inside}:${found.at}`;
    return ` (${place.slice(-PLACE_MAX)})`;
  } catch {
    return '';
  }
}

function pathOf(file: string): string {
  return file.startsWith('file://') ? fileURLToPath(file) : file;
}

function withoutSecrets(text: string): string {
  const secrets = Object.entries(process.env).flatMap(([name, value = '']) =>
    (SECRET.test(name) && !PUBLIC.has(name) ? [value, passwordOf(value)] : [passwordOf(value)])
      .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
      .map((secret) => ({ secret, name })),
  );
  // The longest first: a short one may be a part of it.
  secrets.sort((a, b) => b.secret.length - a.secret.length);
  return secrets.reduce((shown, { secret, name }) => shown.replaceAll(secret, () => `[${name}]`), text);
}

/** Password of a URL; empty if it has none. */
function passwordOf(value: string): string {
  return /^[a-z][a-z\d+.-]*:\/\/[^/?#]*?:([^/?#]+)@/i.exec(value)?.[1] ?? '';
}

function cut(text: unknown): string {
  return String(text).slice(0, MESSAGE_MAX);
}
