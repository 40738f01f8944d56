import { defineConfig } from '@playwright/test';

import { BROWSER_ARGS, browserPath } from '../tests/browser.js';

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../test-results',
  // The first test of a worker starts the daemon and the app.
  timeout: 120_000,
  reporter: 'list',
  use: { launchOptions: { executablePath: browserPath(), args: BROWSER_ARGS } },
});
