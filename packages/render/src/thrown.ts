/**
 * Values that code has thrown, read once and for all. Anything can be thrown, and an error's own properties may be getters that
 * throw, texts of many megabytes, or no texts. Everything in this package that reads an error gets it from here. Bounded in
 * characters.
 */
import { inspect, types } from 'node:util';

/** Bounds what is read of an error: name, message, stack. */
const CHARACTERS_MAX = { name: 200, message: 10_000, stack: 20_000 } as const;
/** Bounds the text of one line of the log, its causes included. */
const LOG_CHARACTERS_MAX = 30_000;
/** Bounds the causes of an error that the log tells. */
const CAUSES_MAX = 5;
/** Bounds further properties, such as `code`, that the log tells of one error. */
const PROPERTIES_MAX = 10;
/** End of a line before one that is not indented, and empty lines between them. */
const LINE_BEGIN = /[\r\n]+(?![ \t])/g;
/** Bounds the objects that are asked for a property. */
const PROTOTYPES_MAX = 50;

type Field = keyof typeof CHARACTERS_MAX;
const FIELDS = Object.keys(CHARACTERS_MAX) as readonly Field[];

/**
 * Returns any thrown value as an error: itself if it is one, else a new one that describes it. Its name, message and stack
 * are texts of bounded length, and reading them runs no code. Never throws.
 */
export function toError(thrown: unknown): Error {
  try {
    if (!isError(thrown)) return described(thrown);
    const tamed = FIELDS.every((field) => tame(thrown, field));
    return tamed ? thrown : copyOf(thrown);
  } catch {
    return new Error('Something was thrown that cannot be read');
  }
}

/** Returns the same as `toError`, but short texts, numbers and the like stay as they were thrown. */
export function tamed(thrown: unknown): unknown {
  const isObject = typeof thrown === 'function' || (typeof thrown === 'object' && thrown !== null);
  const isLong = typeof thrown === 'string' && thrown.length > CHARACTERS_MAX.message;
  return isObject || isLong ? toError(thrown) : thrown;
}

/** Calls a callback of the app's. `fail` gets what it throws, and what its promise rejects with: neither may end the process. */
export function callApp(callback: () => unknown, fail: (thrown: unknown) => void): void {
  try {
    Promise.resolve(callback()).catch(fail);
  } catch (thrown) {
    fail(thrown);
  }
}

export function messageOf(thrown: unknown): string {
  return toError(thrown).message;
}

/** Text for the log: stack, properties such as `code`, and causes. Lines after the first are indented: a log takes them for one record. */
export function logText(thrown: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  let next = thrown;
  while (parts.length <= CAUSES_MAX && !seen.has(next)) {
    seen.add(next);
    const error = toError(next);
    parts.push(`${error.stack ?? `${error.name}: ${error.message}`}${propertiesText(error)}`);
    const cause = dataOf(error, 'cause');
    if (cause === undefined || cause === null) break;
    next = cause;
  }
  return shortened(parts.join('\n[cause]: ').replaceAll(LINE_BEGIN, '\n  '), LOG_CHARACTERS_MAX);
}

/** An error of any realm that is no proxy, nor inherits from one: asking it for its class runs no code. */
function isError(thrown: unknown): thrown is Error {
  if (typeof thrown !== 'object' || thrown === null) return false;
  let isOne = types.isNativeError(thrown);
  let each: object | null = thrown;
  for (let depth = 0; each !== null && depth < PROTOTYPES_MAX; depth += 1) {
    if (types.isProxy(each)) return false;
    // What is no native error may be one by its class, such as a DOMException.
    isOne ||= each === Error.prototype;
    each = Object.getPrototypeOf(each) as object | null;
  }
  return isOne && each === null;
}

/** Makes a field a text that can be read again. False where the error does not allow that. */
function tame(error: Error, field: Field): boolean {
  if (isTame(error, field)) return true;
  const value = textOf(error, field);
  return Reflect.defineProperty(error, field, {
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

function isTame(error: Error, field: Field): boolean {
  try {
    const descriptor = descriptorOf(error, field);
    if (descriptor === undefined) return field === 'stack';
    if (!('value' in descriptor)) return false;
    const value: unknown = descriptor.value;
    if (field === 'stack' && value === undefined) return true;
    return typeof value === 'string' && value.length <= CHARACTERS_MAX[field];
  } catch {
    // A stack is made when it is asked for, by the app's `Error.prepareStackTrace` where there is one.
    return false;
  }
}

function copyOf(error: Error): Error {
  const copy = new Error(textOf(error, 'message'));
  for (const field of ['name', 'stack'] as const)
    Object.defineProperty(copy, field, { value: textOf(error, field), writable: true, configurable: true });
  return copy;
}

function textOf(error: Error, field: Field): string {
  let value: unknown;
  try {
    value = error[field];
  } catch {
    return `(its ${field} cannot be read)`;
  }
  return shortened(typeof value === 'string' ? value : inspected(value), CHARACTERS_MAX[field]);
}

function described(thrown: unknown): Error {
  if (typeof thrown !== 'string') return new Error(`${inspected(thrown)} was thrown`, { cause: thrown });
  const message = shortened(thrown, CHARACTERS_MAX.message);
  return message === thrown ? new Error(message, { cause: thrown }) : new Error(message);
}

/** Runs none of its code, but for getters of its tag, which may throw. */
function inspected(value: unknown): string {
  if (types.isProxy(value)) return 'A Proxy';
  try {
    const text = inspect(value, {
      depth: 0,
      customInspect: false,
      maxStringLength: 1_000,
      maxArrayLength: 20,
    });
    return shortened(text, CHARACTERS_MAX.message);
  } catch {
    return `A value of type ${typeof value}`;
  }
}

function shortened(text: string, characters_max: number): string {
  return text.length <= characters_max
    ? text
    : `${text.slice(0, characters_max)}… (${text.length} characters in all)`;
}

function propertiesText(error: Error): string {
  const texts: string[] = [];
  for (const key of Object.keys(error)) {
    if (texts.length === PROPERTIES_MAX) break;
    const value = dataOf(error, key);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      texts.push(`${shortened(key, 100)}: ${shortened(String(value), 1_000)}`);
  }
  return texts.length === 0 ? '' : ` { ${texts.join(', ')} }`;
}

/** The value of an own property that is no getter. */
function dataOf(error: Error, key: string): unknown {
  return Object.getOwnPropertyDescriptor(error, key)?.value;
}

function descriptorOf(error: object, key: string): PropertyDescriptor | undefined {
  let each: object | null = error;
  while (each !== null) {
    const descriptor = Object.getOwnPropertyDescriptor(each, key);
    if (descriptor !== undefined) return descriptor;
    each = Object.getPrototypeOf(each) as object | null;
  }
  return undefined;
}
