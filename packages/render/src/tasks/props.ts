/** Whether props are what a component takes: by limits that hold for all, and by the component's own schema. */
import type { Component, Props, SchemaResult } from '../component.js';
import { InvalidPropsError } from './errors.js';
import { isPromise } from './promise.js';

export interface PropsLimits {
  /** Objects and arrays within each other; default 64. */
  readonly depthMax?: number;
  /** Values, keys of objects and elements of arrays together; default 100,000. */
  readonly valuesMax?: number;
}

const DEPTH_MAX = 64;
const VALUES_MAX = 100_000;

/**
 * Refuses data that is too deep or has too many values, and removes keys named `__proto__`, which replace the prototype of
 * whatever the props are copied to. For data from outside that JSON.parse has made: it is changed in place.
 */
export function tameProps(props: unknown, limits: PropsLimits = {}): void {
  const { depthMax = DEPTH_MAX, valuesMax = VALUES_MAX } = limits;
  let values = 0;
  const walk = (value: unknown, depth: number): void => {
    values += 1;
    if (values > valuesMax) throw new InvalidPropsError(`The props have more than ${valuesMax} values`);
    if (typeof value !== 'object' || value === null) return;
    if (depth > depthMax) throw new InvalidPropsError(`The props are nested more than ${depthMax} deep`);
    if (Array.isArray(value)) {
      for (const element of value) walk(element, depth + 1);
      return;
    }
    for (const key of Object.keys(value)) {
      if (key === '__proto__') delete (value as Record<string, unknown>)[key];
      else walk((value as Record<string, unknown>)[key], depth + 1);
    }
  };
  walk(props, 1);
}

/** The props as the component's schema makes them. Throws, or rejects, where they are none that it takes. */
export function checkProps(component: Component, props: Props): Props | Promise<Props> {
  const schema = component.settings.props?.['~standard'];
  if (schema === undefined) return props;
  const result = schema.validate(props);
  return isPromise(result)
    ? Promise.resolve(result).then((value) => accepted(component, value))
    : accepted(component, result);
}

function accepted(component: Component, result: SchemaResult<Props>): Props {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map(({ message, path }) =>
    [pathText(path), message].filter(Boolean).join(': '),
  );
  throw new InvalidPropsError(`Props of component "${component.name}": ${issues.join('; ')}`);
}

/** Standard Schema names a step by its key, or by an object that has it. */
function pathText(path: readonly unknown[] | undefined): string {
  const keys = path?.map((step) =>
    typeof step === 'object' && step !== null && 'key' in step ? step.key : step,
  );
  return keys?.map(String).join('.') ?? '';
}
