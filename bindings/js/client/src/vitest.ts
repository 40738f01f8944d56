import { test as base, type TestAPI } from 'vitest';

import type { AppClient } from './client.js';
import { ATTACHMENT, failureReport, lastEvent, reportText } from './failure.js';
import type { Session } from './protocol.js';
import { TestDaemon, type AppUnderTest, type TestDaemonOptions } from './test_daemon.js';
import type { AnyTools, ToolMap } from './tool_map.js';

export { playground, TestDaemon } from './test_daemon.js';
export type { AppUnderTest, ProgramUnderTest, TestDaemonOptions } from './test_daemon.js';

/** What a test gets. */
export interface AppductFixtures<TTools extends ToolMap<TTools> = AnyTools> {
  /** The daemon of this worker. */
  daemon: TestDaemon;
  /** The app's session, which the tests of a worker share. */
  session: Session;
  /** A client of this test for the app. */
  app: AppClient<TTools>;
}

/** What is tested, and with which daemon. */
export interface AppductTestOptions extends TestDaemonOptions {
  app: AppUnderTest;
}

/**
 * A `test` whose fixture `app` is a client for the app under test. Each worker starts a daemon and the app when the first of
 * its tests asks for them. A failed test has the attachment `appduct.json`.
 */
export function appductTest<TTools extends ToolMap<TTools> = AnyTools>(
  options: AppductTestOptions,
): TestAPI<AppductFixtures<TTools>> {
  return base.extend<AppductFixtures<TTools>>({
    daemon: [
      async ({}, use) => {
        const daemon = await TestDaemon.start(options);
        try {
          await use(daemon);
        } finally {
          await daemon.stop();
        }
      },
      { scope: 'worker' },
    ],
    session: [
      async ({ daemon }, use) => {
        await use(await daemon.startApp(options.app));
      },
      { scope: 'worker' },
    ],
    app: async ({ daemon, session, annotate, onTestFailed }, use) => {
      const client = await daemon.connect<TTools>(session.sessionId);
      const since = await lastEvent(client);
      onTestFailed(async () => {
        const body = Buffer.from(reportText(await failureReport(client, daemon, since)));
        await annotate('what the app was asked and what it did', ATTACHMENT, {
          body: new Uint8Array(body),
          contentType: 'application/json',
        });
        await client.close();
      });
      await use(client);
    },
  });
}
