import { Daemon, type DaemonOptions } from './daemon.js';
import { AppductError } from './errors.js';
import { mintWebLink, type Link } from './link.js';
import type { Session } from './protocol.js';
import { waitForSession } from './sessions.js';

/** What is needed of a page; those of Playwright have it. */
export interface Page {
  goto(url: string): Promise<unknown>;
  url(): string;
  evaluate<TArgument, TResult>(work: (argument: TArgument) => TResult, argument: TArgument): Promise<Awaited<TResult>>;
}

/** How to pair a page. */
export interface AttachPageOptions extends DaemonOptions {
  /** A link that `link({ target: 'web', url })` has made: the page goes there. Without it the open page is paired as it is. */
  link?: Link | undefined;
  /**
   * Pairs through the browser's debugging address, for pages that may not open a socket themselves. The browser has to
   * be started with remote debugging, on this machine.
   */
  browserUrl?: string | undefined;
  /** How long the page may take, in milliseconds; 30000 where it is left out. */
  timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Pairs a page in a browser, and resolves when its app is connected. */
export async function attachPage(page: Page, options: AttachPageOptions = {}): Promise<Session> {
  const daemon = new Daemon(options);
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const sessionId = await open(page, daemon, options);
  return waitForSession(sessionId, { ...options, timeoutMs });
}

async function open(page: Page, daemon: Daemon, options: AttachPageOptions): Promise<string> {
  if (options.browserUrl !== undefined) return throughTheBrowser(page, daemon, options.browserUrl);
  if (options.link !== undefined) {
    await page.goto(options.link.url);
    return options.link.sessionId;
  }
  const { sessionId, payload } = await mintWebLink(daemon);
  const heard = await page.evaluate(tellPage, payload);
  if (!heard) {
    throw new AppductError('client_error', `the page at ${withoutFragment(page.url())} has no Appduct`, {
      hint: 'it is inert in a production build; `@appduct/web/enabled` never is',
    });
  }
  return sessionId;
}

async function throughTheBrowser(page: Page, daemon: Daemon, browserUrl: string): Promise<string> {
  const connection = await daemon.open();
  try {
    const params = { url: withoutFragment(page.url()), browserUrl };
    const attached = await connection.request<{ sessionId: string }>('web.attach', params, daemon.requestTimeoutMs);
    return attached.sessionId;
  } finally {
    connection.close();
  }
}

/** Runs in the page. */
function tellPage(payload: string): boolean {
  const global = globalThis as { __APPDUCT__?: { connect?: (payload: string) => unknown } };
  if (typeof global.__APPDUCT__?.connect !== 'function') return false;
  void global.__APPDUCT__.connect(payload);
  return true;
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? url;
}
