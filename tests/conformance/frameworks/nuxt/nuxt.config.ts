export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  telemetry: false,
  nitro: {
    preset: 'node-server',
    experimental: { websocket: true },
  },
});
