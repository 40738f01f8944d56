import type { AppClient } from './client.js';
import type { AppductEvent, Session } from './protocol.js';
import type { TestDaemon } from './test_daemon.js';

/** What the attachment of a failed test holds. */
export interface FailureReport {
  session: Session | { error: unknown };
  /** The calls of the test, oldest first. */
  calls: readonly unknown[];
  /** What the app posted during the test, oldest first. */
  events: AppductEvent[] | { error: unknown };
  /** The end of what the app printed, where it is a program. */
  appOutput: string;
}

/** What the attachment is called. */
export const ATTACHMENT = 'appduct.json';

const MAX_EVENTS = 200;
const PAYLOAD_MAX_BYTES = 16_384;

/** What a session did since an event. A part that cannot be had says why. */
export async function failureReport(
  client: Pick<AppClient, 'session' | 'eventsSince' | 'history'>,
  daemon: TestDaemon,
  since: number,
): Promise<FailureReport> {
  const failed = (error: unknown): { error: unknown } => ({ error });
  const page = client.eventsSince({ since, limit: MAX_EVENTS, payloadMaxBytes: PAYLOAD_MAX_BYTES });
  return {
    session: await client.session().catch(failed),
    calls: client.history.calls,
    events: await page.then(({ events }) => events, failed),
    appOutput: daemon.appOutput,
  };
}

/** The report as text. A result that is no JSON does not get this far. */
export function reportText(report: FailureReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}
