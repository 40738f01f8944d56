import { appductTest, playground } from '@appduct/client/playwright';
import { expect } from '@playwright/test';

const test = appductTest({ app: playground() });

test('adds wrongly', async ({ app }) => {
  expect(await app.call('sum', { a: 2, b: 2 })).toEqual({ total: 5 });
});

test('adds rightly', async ({ app }) => {
  expect(await app.call('sum', { a: 2, b: 2 })).toEqual({ total: 4 });
});
