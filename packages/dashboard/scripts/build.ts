// Builds `dist/index.html`, the same compressed, and its policy. The gateway embeds all three (gateway/admin/build.rs).
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildPage, write } from '@sluice/flame/page';

const root = fileURLToPath(new URL('..', import.meta.url));
const { html, policy } = await buildPage({
  root,
  entry: 'src/main.tsx',
  allows: ["connect-src 'self'", 'img-src data:'],
  options: { jsx: 'automatic', jsxImportSource: 'preact' },
});
write(root, 'index.html', html);
write(root, 'index.html.gz', gzipSync(html, { level: 9 }));
// Only a header can say who may frame the page.
write(root, 'index.csp', `${policy}; frame-ancestors 'none'`);
