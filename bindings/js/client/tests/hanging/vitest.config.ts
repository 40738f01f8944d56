import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { dir: import.meta.dirname, include: ['*.test.ts'], testTimeout: 600_000 } });
