/** The static files beside the server, each with a version made from its bytes. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Assets {
  folder: string;
  stylesheet: string;
  script: string;
}

export function readAssets(folder: string): Assets {
  const versioned = (name: string): string => {
    const bytes = readFileSync(join(folder, name));
    return `/assets/${name}?v=${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;
  };
  return { folder, stylesheet: versioned('storefront.css'), script: versioned('client.js') };
}
