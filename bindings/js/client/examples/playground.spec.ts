import { appductTest, playground } from '@appduct/client/playwright';
import { expect } from '@playwright/test';

import type { Tools } from './tools.js';

const test = appductTest<Tools>({ app: playground() });

test('adds two numbers', async ({ app }) => {
  expect(await app.call('sum', { a: 2, b: 3 })).toEqual({ total: 5 });
});

test('refuses what is no number', async ({ app }) => {
  const two = 'two' as unknown as number;
  await expect(app.call('sum', { a: two, b: 3 })).rejects.toMatchObject({ type: 'tool_input_validation_error' });
});

test('can be cancelled', async ({ app }) => {
  const stop = new AbortController();
  const call = app.call('slow_task', {}, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(call).rejects.toMatchObject({ type: 'tool_cancelled' });
});
