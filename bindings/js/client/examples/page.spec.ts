import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { appductPageTest } from '@appduct/client/playwright';
import { expect } from '@playwright/test';

interface Tools {
  title: { args: Record<string, never>; result: string };
  large: { args: { kib: number }; result: string };
}

// Playwright's `webServer` and `baseURL` do this where the port is known.
const test = appductPageTest<Tools>().extend<object, { site: string }>({
  site: [
    async ({}, use) => {
      const html = readFileSync(new URL('../tests/page.html', import.meta.url));
      const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      server.closeAllConnections();
      server.close();
    },
    { scope: 'worker' },
  ],
  baseURL: ({ site }, use) => use(site),
});

test('the page says its title', async ({ app, page }) => {
  expect(await app.call('title')).toBe(await page.title());
});

test('each test has a page of its own', async ({ app, page }) => {
  await page.evaluate(() => {
    document.title = 'Changed';
  });
  expect(await app.call('title')).toBe('Changed');
  expect(await app.call('large', { kib: 1 })).toHaveLength(1024);
});
