/** Source of data for trees: a node names a path of the shop's graph and the fields that it wants. It must not know boxes. */

import type { IncomingMessage } from 'node:http';
import { Model } from '@sluice/graph';
import type { DataSource, Path } from '@sluice/graph';
import type { SourceContext } from '@sluice/render';

/** What a tree asks for: fields of one place, or a list of such where it says how many. */
interface Asked {
  path: Path;
  fields: readonly string[];
  count?: number;
}

/** Rejects where a value is an error, so that the box has its placeholder; fields without a value are left out. */
export function graphSource(graphOf: (req: IncomingMessage) => DataSource) {
  return async (args: unknown, { request, signal }: SourceContext): Promise<unknown> => {
    if (request === undefined) throw new Error('The graph is read for a visitor');
    // Trees are the shop's own.
    const { path, fields, count } = args as Asked;
    const places = count === undefined ? [] : [{ length: count }];
    const read = await new Model({ source: graphOf(request) }).get([...path, ...places, fields], { signal });
    let found: unknown = read?.json;
    for (const key of path) found = (found as Record<string, unknown> | undefined)?.[String(key)];
    return count === undefined ? found : Object.values(found ?? {});
  };
}
