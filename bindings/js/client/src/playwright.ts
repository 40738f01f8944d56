import { writeFile } from 'node:fs/promises';

import { test as base, type TestInfo, type TestType } from '@playwright/test';
import type { PlaywrightTestArgs, PlaywrightTestOptions } from '@playwright/test';
import type { PlaywrightWorkerArgs, PlaywrightWorkerOptions } from '@playwright/test';

import type { AppClient } from './client.js';
import { ATTACHMENT, failureReport, reportText } from './failure.js';
import type { Session } from './protocol.js';
import { TestDaemon, type AppUnderTest, type TestDaemonOptions } from './test_daemon.js';
import type { AnyTools, ToolMap } from './tool_map.js';

export { playground, TestDaemon } from './test_daemon.js';
export type { AppUnderTest, ProgramUnderTest, TestDaemonOptions } from './test_daemon.js';

/** What a test gets. */
export interface AppductFixtures<TTools extends ToolMap<TTools> = AnyTools> {
  /** A client of this test for the app. */
  app: AppClient<TTools>;
}

/** What the tests of a worker share. */
export interface AppductWorkerFixtures {
  /** The daemon of this worker. */
  daemon: TestDaemon;
  /** The session of the app, where that is no page. */
  session: Session;
}

/** What is tested, and with which daemon. */
export interface AppductTestOptions extends TestDaemonOptions {
  app: AppUnderTest;
}

/** Which page is tested, and with which daemon. */
export interface AppductPageTestOptions extends TestDaemonOptions {
  /** The page's address, from Playwright's `baseURL` if it is relative; `/` where it is left out. */
  url?: string | undefined;
}

/** Playwright's `test` with more fixtures. */
export type AppductTest<TFixtures extends object, TWorkerFixtures extends object> = TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & TFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & TWorkerFixtures
>;

/**
 * A `test` whose fixture `app` is a client for the app under test. Each worker starts a daemon and the app when the first of
 * its tests asks for them. A failed test has the attachment `appduct.json`.
 */
export function appductTest<TTools extends ToolMap<TTools> = AnyTools>(
  options: AppductTestOptions,
): AppductTest<AppductFixtures<TTools>, AppductWorkerFixtures> {
  return base.extend<AppductFixtures<TTools>, AppductWorkerFixtures>({
    daemon: [({}, use) => withDaemon(options, use), { scope: 'worker', timeout: 0 }],
    session: [
      async ({ daemon }, use) => {
        await use(await daemon.startApp(options.app));
      },
      { scope: 'worker', timeout: 0 },
    ],
    app: ({ daemon, session }, use, info) => withClient<TTools>(daemon, session, use, info),
  });
}

/**
 * A `test` whose fixture `app` is a client for the page under test: it is opened in `page`, and paired, before each test that
 * asks for it. A failed test has the attachment `appduct.json`.
 */
export function appductPageTest<TTools extends ToolMap<TTools> = AnyTools>(
  options: AppductPageTestOptions = {},
): AppductTest<AppductFixtures<TTools>, Pick<AppductWorkerFixtures, 'daemon'>> {
  return base.extend<AppductFixtures<TTools>, Pick<AppductWorkerFixtures, 'daemon'>>({
    daemon: [({}, use) => withDaemon(options, use), { scope: 'worker', timeout: 0 }],
    app: async ({ daemon, page, baseURL }, use, info) => {
      const { url = '/' } = options;
      const address = URL.canParse(url, baseURL) ? new URL(url, baseURL).href : url;
      await withClient<TTools>(daemon, await daemon.openPage(page, address), use, info);
    },
  });
}

async function withDaemon(options: TestDaemonOptions, use: (daemon: TestDaemon) => Promise<void>): Promise<void> {
  const daemon = await TestDaemon.start(options);
  try {
    await use(daemon);
  } finally {
    await daemon.stop();
  }
}

async function withClient<TTools extends ToolMap<TTools>>(
  daemon: TestDaemon,
  session: Session,
  use: (client: AppClient<TTools>) => Promise<void>,
  info: TestInfo,
): Promise<void> {
  const client = await daemon.connect<TTools>(session.sessionId);
  try {
    const since = await client.eventCursor();
    await use(client);
    if (info.status !== info.expectedStatus) {
      // A file, because most reporters keep the body of an attachment to themselves.
      const path = info.outputPath(ATTACHMENT);
      await writeFile(path, reportText(await failureReport(client, daemon, since)));
      info.attachments.push({ name: ATTACHMENT, path, contentType: 'application/json' });
    }
  } finally {
    await client.close();
  }
}
