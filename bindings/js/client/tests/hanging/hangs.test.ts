import { appductTest, playground } from '@appduct/client/vitest';
import { expect } from 'vitest';

const test = appductTest({ app: playground() });

test('waits for what never comes', async ({ app }) => {
  expect(await app.call('call_count')).toEqual({ count: 0 });
  console.log('it hangs');
  await app.waitForEvent('never', { timeoutMs: 500_000 });
});
