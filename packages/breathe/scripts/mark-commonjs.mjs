// Tells Node that what `tsconfig.cjs.json` has built is CommonJS, inside a package that is not.
import { writeFileSync } from 'node:fs';

writeFileSync(new URL('../dist/cjs/package.json', import.meta.url), '{ "type": "commonjs" }\n');
