// Builds `dist/flame.html`. `sluice profile` and `sluice heap` put their data into it.
import { fileURLToPath } from 'node:url';
import { buildPage, write } from './page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { html } = await buildPage({ root, entry: 'src/main.ts' });
write(root, 'flame.html', html);
