// What the engine lacks of a browser's globals, around what the player gives it.
// oxlint-disable-next-line no-unused-expressions -- the player calls the function that this script results in
(host) => {
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const show = (value, depth) => {
    if (typeof value === 'string') return depth === 0 ? value : JSON.stringify(value);
    if (typeof value === 'function') return `[function ${value.name}]`;
    if (typeof value !== 'object' || value === null)
      return typeof value === 'bigint' ? `${value}n` : String(value);
    if (value instanceof Error) return `${value.name}: ${value.message}\n${value.stack ?? ''}`.trimEnd();
    if (depth > 3) return Array.isArray(value) ? '[…]' : '{…}';
    if (Array.isArray(value))
      return `[${value
        .slice(0, 100)
        .map((each) => show(each, depth + 1))
        .join(', ')}]`;
    const entries = Object.keys(value)
      .slice(0, 50)
      .map((key) => `${key}: ${show(value[key], depth + 1)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  };
  const printer =
    (isError) =>
    (...values) =>
      host.print(values.map((value) => show(value, 0)).join(' '), isError);
  const [log, error] = [printer(false), printer(true)];
  define('console', { log, info: log, debug: error, warn: error, error, trace: error });
  define('self', globalThis);
  define('performance', { now: host.now });
  const timer =
    (repeats) =>
    (run, delay, ...args) => {
      if (typeof run !== 'function') throw new TypeError('a timer needs a function');
      return host.timer(args.length === 0 ? run : () => run(...args), Number(delay) || 0, repeats);
    };
  define('setTimeout', timer(false));
  define('setInterval', timer(true));
  const clear = (id) => {
    if (typeof id === 'number') host.clear(id);
  };
  define('clearTimeout', clear);
  define('clearInterval', clear);
  if (globalThis.queueMicrotask === undefined)
    define('queueMicrotask', (run) => {
      void Promise.resolve().then(run);
    });
  define('requestAnimationFrame', (run) => host.timer(() => run(host.now()), 16, false));
  define('cancelAnimationFrame', clear);

  define(
    'TextEncoder',
    class TextEncoder {
      encoding = 'utf-8';
      encode(text) {
        return host.encode(text === undefined ? '' : String(text));
      }
    },
  );
  define(
    'TextDecoder',
    class TextDecoder {
      encoding = 'utf-8';
      decode(bytes) {
        return bytes === undefined
          ? ''
          : host.decode(new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset, bytes.byteLength));
      }
    },
  );

  class Response {
    #text;
    constructor(url, status, headers, text) {
      this.#text = text;
      this.url = url;
      this.status = status;
      this.ok = status >= 200 && status < 300;
      const map = new Map(headers);
      this.headers = {
        get: (name) => map.get(name.toLowerCase()) ?? null,
        has: (name) => map.has(name.toLowerCase()),
      };
    }
    async text() {
      return this.#text;
    }
    async json() {
      return JSON.parse(this.#text);
    }
  }
  define(
    'fetch',
    (url, { method = 'GET', headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const upper = method.toUpperCase();
        if (upper !== 'GET' && upper !== 'POST')
          throw new TypeError(`fetch of the player knows GET and POST, not ${method}`);
        const pairs = headers instanceof Map ? [...headers] : Object.entries(headers);
        host.fetch(
          String(url),
          upper,
          pairs.flat().map(String),
          String(body ?? ''),
          (problem, status, names, text) => {
            if (problem !== undefined) reject(new TypeError(problem));
            else {
              const found = [];
              for (let at = 0; at < names.length; at += 2) found.push([names[at], names[at + 1]]);
              resolve(new Response(String(url), status, found, text));
            }
          },
        );
      }),
  );
};
