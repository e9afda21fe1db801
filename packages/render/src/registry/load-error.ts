/** Error of a component whose module could not be loaded. It must not know registries. */
import { fileURLToPath } from 'node:url';
import { toError } from '../thrown.js';

/** Error that names a component's file, and the place whose code threw: that of the file itself, or of a module that it imports. */
export class LoadError extends Error {
  override readonly name = 'LoadError';

  /** `file`: file of the component, where it is known. `by`: whose code threw; the registry's places are nothing to look for. */
  constructor(component: string, file: string | undefined, thrown: unknown, by: 'module' | 'registry') {
    const cause = toError(thrown);
    const from = file === undefined ? '' : ` from ${file}`;
    const place = by === 'module' ? placeOf(cause) : '';
    super(`Component "${component}" was not loaded${from}: ${cause.name}: ${cause.message}${place}`, {
      cause,
    });
  }
}

/** A frame of the stack whose code is in a file, with line and column. Paths may have spaces and parentheses; code of `eval` has no file. */
const FRAME = /^\s+at (?![^\n]*\(eval at )(?:async )?(?:[^\n]*? \()?((?:file:\/\/)?\/[^\n]+?:\d+:\d+)\)?$/m;

/** Place that threw. Errors of Node's own, such as for a package that is not there, have none and name the file themselves. */
function placeOf({ stack = '' }: Error): string {
  const place = FRAME.exec(stack)?.[1];
  if (place === undefined) return '';
  return ` (at ${place.startsWith('file:') ? pathOf(place) : place})`;
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
