import { appductTest, playground } from '@appduct/client/vitest';
import { expect } from 'vitest';

const test = appductTest({ app: playground(), attachmentsDir: process.env['REPORTS'] });

test('adds wrongly', async ({ app }) => {
  expect(await app.call('sum', { a: 2, b: 2 })).toEqual({ total: 5 });
});

test('adds rightly', async ({ app }) => {
  expect(await app.call('sum', { a: 2, b: 2 })).toEqual({ total: 4 });
});
