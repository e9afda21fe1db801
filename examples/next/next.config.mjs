/** @type {import('next').NextConfig} */
export default {
  // The repository around this folder has a lock file of its own.
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};
