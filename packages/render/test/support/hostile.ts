/** What can be thrown to hurt whoever reads it. Each is made anew, as a reader may change it. */
import { inspect } from 'node:util';

const MEGABYTES_20 = 20 * 1024 * 1024;

const fail = (): never => {
  throw new Error('read');
};
const failing: ProxyHandler<object> = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((trap) => [trap, fail]),
);

function withGetter(key: PropertyKey, get: () => unknown = fail): Error {
  return Object.defineProperty(new Error('getter'), key, { get });
}

export const hostiles: Readonly<Record<string, () => unknown>> = {
  proxy: () => new Proxy({}, failing),
  'proxy of a function': () => new Proxy(() => 1, failing),
  'proxy of an error': () => new Proxy(new Error('inner'), failing),
  'revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'error that inherits from a proxy': () => Object.setPrototypeOf(new Error('x'), new Proxy({}, failing)),
  'getter of the message': () => withGetter('message'),
  'getter of the stack': () => withGetter('stack'),
  'getter of the name': () => withGetter('name'),
  'getter of the cause': () => withGetter('cause'),
  'getter that throws a proxy': () =>
    withGetter('message', () => {
      throw new Proxy({}, failing);
    }),
  'getter that fails the second time': () => {
    let reads = 0;
    return withGetter('message', () => ((reads += 1) > 1 ? fail() : 'once'));
  },
  'frozen, with a getter': () => Object.freeze(withGetter('message')),
  'toString that throws': () => Object.assign(new Error('x'), { toString: fail, [Symbol.toPrimitive]: fail }),
  'inspect that throws': () => Object.assign(new Error('x'), { [inspect.custom]: fail, toJSON: fail }),
  'object whose tag throws': () => Object.defineProperty({}, Symbol.toStringTag, { get: fail }),
  // oxlint-disable-next-line unicorn/no-thenable -- what is tried
  'object whose then throws': () => Object.defineProperty({}, 'then', { get: fail }),
  'no texts': () => Object.assign(new Error('x'), { message: { a: 1 }, name: Symbol('n'), stack: 7n }),
  'cyclic cause': () => {
    const error = new Error('x');
    return Object.assign(error, { cause: new Error('y', { cause: error }) });
  },
  'hostile cause': () => new Error('x', { cause: new Proxy({}, failing) }),
  '20 MB of message': () => new RangeError('x'.repeat(MEGABYTES_20)),
  '20 MB of text': () => 'x'.repeat(MEGABYTES_20),
  '20 MB in a property': () => Object.assign(new Error('x'), { detail: 'x'.repeat(MEGABYTES_20) }),
  'a large object': () => ({ rows: Array.from({ length: 200_000 }, (_, row) => ({ row })) }),
  'no prototype': () => Object.create(null) as unknown,
  null: () => null,
  undefined: () => undefined,
  symbol: () => Symbol('s'),
  bigint: () => 1n,
  function: () => fail,
};
