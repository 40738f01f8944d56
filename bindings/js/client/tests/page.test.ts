import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium, type Browser } from '@playwright/test';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { attachPage } from '../src/index.js';
import { TestDaemon } from '../src/test_daemon.js';
import { BROWSER_ARGS, browserPath } from './browser.js';

const HTML = readFileSync(new URL('page.html', import.meta.url));
const server = createServer((request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(request.url === '/page' ? HTML : '<title>Empty</title>');
});

let site: string;
let browser: Browser;
let daemon: TestDaemon;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath: browserPath(), args: BROWSER_ARGS });
  daemon = await TestDaemon.start();
});

afterAll(async () => {
  await browser?.close();
  await daemon?.stop();
  server.close();
});

test('a page is opened by its link and called', async () => {
  const page = await browser.newPage();
  const session = await daemon.openPage(page, `${site}/page`);
  expect(page.url()).toBe(`${site}/page`);
  await using client = await daemon.connect(session.sessionId);
  expect(await client.call<string>('title')).toBe('A page with tools');
  await page.close();
});

test('a page that is open is paired as it is', async () => {
  const page = await browser.newPage();
  await page.goto(`${site}/page`);
  const session = await attachPage(page, { stateDir: daemon.stateDir });
  await using client = await daemon.connect(session.sessionId);
  expect(await client.call<string>('title')).toBe('A page with tools');
  await page.close();
});

test('a page without Appduct is a clear error', async () => {
  const page = await browser.newPage();
  await page.goto(`${site}/empty`);
  const refused = attachPage(page, { stateDir: daemon.stateDir });
  await expect(refused).rejects.toMatchObject({ type: 'client_error', message: `the page at ${site}/empty has no Appduct` });
  await page.close();
});

test('a page that is closed mid-call suspends its session', async () => {
  const page = await browser.newPage();
  const session = await daemon.openPage(page, `${site}/page`);
  await using client = await daemon.connect(session.sessionId);
  await using stream = await client.events({ kinds: ['tool_call_started'] }).ready();
  const call = expect(client.call('never')).rejects.toMatchObject({ type: 'session_suspended' });
  await stream.next();
  await page.close();
  await call;
});

test('results come whole up to what a frame holds, and one that is larger fails its call', async () => {
  const page = await browser.newPage();
  const session = await daemon.openPage(page, `${site}/page`);
  await using client = await daemon.connect(session.sessionId);
  expect((await client.call<string>('large', { kib: 250 })).length).toBe(250 * 1024);
  // The packages for apps do not send such a frame. The daemon closes the socket of one that does.
  await expect(client.call('large', { kib: 300 })).rejects.toMatchObject({ type: 'session_suspended' });
  await page.close();
});

test('a handler that never settles can be cancelled', async () => {
  const page = await browser.newPage();
  const session = await daemon.openPage(page, `${site}/page`);
  await using client = await daemon.connect(session.sessionId);
  const stop = new AbortController();
  await using stream = await client.events({ kinds: ['tool_call_started'] }).ready();
  const call = expect(client.call('never', {}, { signal: stop.signal })).rejects.toMatchObject({ type: 'tool_cancelled' });
  await stream.next();
  stop.abort();
  await call;
  await expect(client.call('never', {}, { timeoutMs: 1000 })).rejects.toMatchObject({ type: 'tool_timeout' });
  await page.close();
});

test('a page is paired through the debugging address of its browser', async () => {
  const profile = mkdtempSync(join(tmpdir(), 'appduct-'));
  const args = [...BROWSER_ARGS, '--remote-debugging-port=0'];
  const debugged = await chromium.launchPersistentContext(profile, { executablePath: browserPath(), args });
  try {
    const page = await debugged.newPage();
    await page.goto(`${site}/page`);
    const [port] = readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n');
    const browserUrl = `http://127.0.0.1:${port}`;
    const session = await attachPage(page, { browserUrl, stateDir: daemon.stateDir });
    await using client = await daemon.connect(session.sessionId);
    expect(await client.call<string>('title')).toBe('A page with tools');
    const elsewhere = attachPage(page, { browserUrl: 'http://192.0.2.1:9222', stateDir: daemon.stateDir });
    await expect(elsewhere).rejects.toMatchObject({ type: 'invalid_request' });
  } finally {
    await debugged.close();
    rmSync(profile, { recursive: true, force: true });
  }
});
