/** Makes real values of the plain ones in a description. */

import type { ActionSpec, Prop, Value } from './description.ts';

export function valueOf(value: Value): unknown {
  if (value === null || typeof value !== 'object') return value;
  switch (value.$) {
    case 'undefined':
      return undefined;
    case 'nan':
      return Number.NaN;
    case 'infinity':
      return Number.POSITIVE_INFINITY;
    case 'minus-zero':
      return -0;
    case 'bigint':
      return BigInt(value.v);
    case 'symbol':
      return Symbol(value.v);
    case 'function':
      return () => value.v;
    case 'to-string':
      return { toString: () => value.v };
    case 'to-string-throws':
      return {
        toString() {
          throw new Error(value.v);
        },
      };
    case 'url':
      return new URL(value.v, 'https://example.com/');
    case 'date':
      return new Date(value.v);
    case 'object':
      return propsOf(value.v);
    case 'null-prototype':
      return Object.create(null) as object;
    case 'array':
      return value.v.map(valueOf);
    case 'html':
      return { __html: valueOf(value.v) };
    case 'ref':
      return { current: null };
    case 'callback-ref':
      return () => undefined;
    case 'action':
      return actionOf(value.v);
  }
}

/** Later props of the same name win and keep the first one's place, as in an object literal. */
export function propsOf(props: readonly Prop[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, value] of props) made[name] = valueOf(value);
  return made;
}

interface Action {
  (...args: unknown[]): unknown;
  $$FORM_ACTION?: (prefix: string) => unknown;
  $$IS_SIGNATURE_EQUAL?: (id: unknown, bound: unknown) => boolean;
}

/** A function like those that bundlers make of server actions: `bind` keeps what React looks for. */
export function actionOf(spec: ActionSpec): Action {
  return dressed(() => undefined, spec);
}

function dressed(action: Action, spec: ActionSpec): Action {
  if (spec.fields === 'none') return action;
  action.$$FORM_ACTION = (prefix) => fieldsOf(spec, prefix);
  if (spec.signature !== undefined) action.$$IS_SIGNATURE_EQUAL = () => spec.signature === true;
  Object.defineProperty(action, 'bind', {
    value: (...args: Parameters<Action['bind']>) =>
      dressed(Function.prototype.bind.apply(action, args) as Action, spec),
  });
  return action;
}

function fieldsOf(spec: ActionSpec, prefix: string): unknown {
  switch (spec.fields) {
    case 'throws':
      throw new Error('no fields');
    case 'data': {
      const data = new FormData();
      data.append(`${prefix}:name`, 'a "value"');
      data.append('second', '<&>');
      return { name: `$ACTION_${prefix}`, method: 'POST', encType: 'multipart/form-data', data };
    }
    case 'file': {
      const data = new FormData();
      data.append('file', new Blob(['x']));
      return { name: 'file', method: 'POST', data };
    }
    case 'attributes':
      return { name: 'n', action: '/post?a=1&b=2', method: 'GET', encType: 'text/plain', target: '_top' };
    case 'none':
    case 'null':
      return null;
  }
}
