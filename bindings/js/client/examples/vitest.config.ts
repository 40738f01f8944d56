import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['*.test.ts'],
    // The first test of a worker starts the daemon and the app.
    testTimeout: 120_000,
  },
});
