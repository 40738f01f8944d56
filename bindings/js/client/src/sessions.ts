import { within } from './deadline.js';
import { Daemon, type DaemonOptions } from './daemon.js';
import { AppductError } from './errors.js';
import { EventStream } from './events.js';
import type { Link } from './link.js';
import type { EventKind, Session } from './protocol.js';

/** How to wait for a session. */
export interface WaitForSessionOptions extends DaemonOptions {
  /** In milliseconds; 120000 where it is left out. */
  timeoutMs?: number | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

const DEFAULT_TIMEOUT_MS = 120_000;

const KINDS: readonly EventKind[] = [
  'session_claimed',
  'session_resumed',
  'session_revoked',
  'session_expired',
  'link_expired',
  'tools_changed',
];

/**
 * Waits until the app of this session is connected and has said which tools it has. `awaited` is a link, the `sessionId` of
 * one, or a session's alias. A link that runs out and a session that ends are `unknown_session` at once; that a link had run
 * out before shows only where the link itself is given.
 */
export async function waitForSession(
  awaited: string | Pick<Link, 'sessionId' | 'expiresAt'>,
  options: WaitForSessionOptions = {},
): Promise<Session> {
  const session = typeof awaited === 'string' ? awaited : awaited.sessionId;
  const expiresAt = typeof awaited === 'string' ? Infinity : awaited.expiresAt;
  const daemon = new Daemon(options);
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  return within({ timeoutMs, signal, what: `session ${session}` }, async (stopped) => {
    const stream = new EventStream(daemon, undefined, { kinds: KINDS, signal: stopped });
    await stream.ready();
    for (;;) {
      const found = await find(daemon, session);
      if (found?.state === 'active' && found.toolsPending !== true) return found;
      // One that is claimed may be suspended, or may have yet to tell its tools.
      if (expiresAt * 1000 <= Date.now() && found === undefined) throw gone(`nobody opened the link of ${session} in time`);
      for (;;) {
        const { done, value } = await stream.next();
        if (done) throw new AppductError('connection_error', 'the daemon closed the connection');
        if (value.sessionId !== session && value.alias !== session) continue;
        if (value.kind === 'link_expired') throw gone(`nobody opened the link of ${session} in time`);
        if (value.kind === 'session_revoked' || value.kind === 'session_expired') throw gone(`${session} has ended`);
        break;
      }
    }
  });
}

/** The live sessions, in the order of their claims. */
async function listSessions(daemon: Daemon): Promise<Session[]> {
  const connection = await daemon.open();
  try {
    return await connection.request<Session[]>('sessions.list', {}, daemon.requestTimeoutMs);
  } finally {
    connection.close();
  }
}

async function find(daemon: Daemon, session: string): Promise<Session | undefined> {
  const sessions = await listSessions(daemon);
  return sessions.find(({ sessionId, alias }) => sessionId === session || alias === session);
}

function gone(message: string): AppductError {
  return new AppductError('unknown_session', message);
}
