import { appductTest, playground } from '@appduct/client/vitest';
import { describe, expect } from 'vitest';

import type { Tools } from './tools.js';

const test = appductTest<Tools>({ app: playground() });

describe('the playground', () => {
  test('adds two numbers', async ({ app }) => {
    expect(await app.call('sum', { a: 2, b: 3 })).toEqual({ total: 5 });
  });

  test('counts what it was asked', async ({ app }) => {
    await app.call('reset_counter');
    await app.call('sum', { a: 1, b: 1 });
    expect(await app.call('call_count')).toMatchObject({ count: expect.any(Number) });
  });

  test('tells how far a slow task is', async ({ app }) => {
    const messages: (string | undefined)[] = [];
    await app.call('slow_task', {}, { onProgress: ({ message }) => messages.push(message) });
    expect(messages).toEqual(['warming up', 'almost there', 'done']);
  });

  test('says why a tool failed', async ({ app }) => {
    await expect(app.call('throwing_tool')).rejects.toMatchObject({ type: 'tool_execution_error' });
  });
});
