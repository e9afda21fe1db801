// One app, built twice: for `next start`, and as the standalone server that container images use.
const standalone = process.env.BUILD_STANDALONE === 'true';

/** @type {import('next').NextConfig} */
export default {
  distDir: standalone ? '.next-standalone' : '.next',
  output: standalone ? 'standalone' : undefined,
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};
