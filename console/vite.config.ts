import { defineConfig } from 'vite'

/** `npx vite console` serves the sources while one works on them, and asks a gateway on the default port for everything else. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    target: 'es2023',
    // A preload helper in the page itself would be a script the page's own policy forbids.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    // Packages mark what may run on a server; there is none that would run it.
    rolldownOptions: { onLog: (level, log, report) => void (log.code === 'MODULE_LEVEL_DIRECTIVE' || report(level, log)) },
  },
  server: {
    port: 5173,
    proxy: {
      '/api': process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787',
      '/openapi.json': process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787',
    },
  },
})
