import { defineConfig } from 'vitest/config'
import { createSkipReporter } from './scripts/skip-reporter.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'e2e/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/__fixtures__/**'],
    // Processes rather than threads: tests look at signals, memory and open handles, which threads share.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
    // A test that leaves a timer or a socket behind keeps its process alive: say which.
    reporters: ['default', createSkipReporter(process.env)],
    env: { NODE_ENV: 'test' },
  },
})
