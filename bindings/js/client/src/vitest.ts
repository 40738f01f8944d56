import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { test as base, type TestAPI } from 'vitest';

import type { AppClient } from './client.js';
import { ATTACHMENT, failureReport, reportText } from './failure.js';
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
  /** Where the report of a failed test goes; `.vitest-attachments` where it is left out. */
  attachmentsDir?: string | undefined;
}

/**
 * A `test` whose fixture `app` is a client for the app under test. Each worker starts a daemon and the app when the first of
 * its tests asks for them. A failed test leaves a report, and a line that says where.
 */
export function appductTest<TTools extends ToolMap<TTools> = AnyTools>(
  options: AppductTestOptions,
): TestAPI<AppductFixtures<TTools>> {
  return base.extend<AppductFixtures<TTools>>({
    daemon: [
      async ({}, use) => {
        const daemon = await TestDaemon.start(options);
        // A worker whose runner is gone goes on with its test, which then need not wait for the app.
        const orphaned = (): void => void daemon.stop();
        process.once('disconnect', orphaned);
        try {
          await use(daemon);
        } finally {
          process.removeListener('disconnect', orphaned);
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
    app: async ({ daemon, session, task }, use) => {
      const client = await daemon.connect<TTools>(session.sessionId);
      try {
        const since = await client.eventCursor();
        await use(client);
        if (task.result?.state === 'fail') {
          const path = attachmentPath(task.id, task.name, options.attachmentsDir);
          await writeFile(path, reportText(await failureReport(client, daemon, since)));
          console.error(`what the app was asked and what it did: ${path}`);
        }
      } finally {
        await client.close();
      }
    },
  });
}

/** A test that has failed takes no more annotations, so the report is a file where Vitest keeps those of annotations. */
function attachmentPath(id: string, name: string, folder = '.vitest-attachments'): string {
  mkdirSync(folder, { recursive: true });
  const words = name.replaceAll(/[^a-zA-Z0-9]+/g, '-').slice(0, 60);
  return resolve(folder, `${words}-${id.replaceAll(/[^a-zA-Z0-9]+/g, '-')}-${ATTACHMENT}`);
}
