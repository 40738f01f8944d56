import { defineConfig } from '@playwright/test';

export default defineConfig({ testDir: '.', testMatch: '*.spec.ts', timeout: 120_000, reporter: 'line' });
