import { Daemon, type DaemonOptions } from './daemon.js';
import { AppductError } from './errors.js';

/** Where a link is to be opened. */
export type LinkTarget = 'android' | 'ios-sim' | 'ios-device' | 'web';

/** What link to make. */
export interface LinkOptions extends DaemonOptions {
  /** Opens the link there; `web` makes one for a page. Without it a link of the app's scheme is made, for you to open. */
  target?: LinkTarget | undefined;
  /** The device's serial or UDID. */
  device?: string | undefined;
  /** The app's id, for android and ios-device. */
  appId?: string | undefined;
  /** Ends the app first if it runs, for ios-device. */
  relaunch?: boolean | undefined;
  /** The app's link scheme. Without it the places are searched that `appduct link` searches. */
  scheme?: string | undefined;
  /** Where that search begins; the working directory where it is left out. */
  cwd?: string | undefined;
  /** How long the link may be claimed, in seconds. */
  ttlSeconds?: number | undefined;
  /** The page's address, for `web`. */
  url?: string | undefined;
}

/** A link. Whoever opens it first pairs an app, so it does not belong into a log. */
export interface Link {
  /** The id of the session that the link becomes. */
  sessionId: string;
  /** What to open. */
  url: string;
  /** In Unix seconds. */
  expiresAt: number;
}

/** Makes a one-time link that pairs an app with the daemon, and opens it on a device where that is asked for. */
export async function link(options: LinkOptions = {}): Promise<Link> {
  const daemon = new Daemon(options);
  return options.target === 'web' ? webLink(daemon, options) : nativeLink(daemon, options);
}

async function nativeLink(daemon: Daemon, options: LinkOptions): Promise<Link> {
  const words = ['link'];
  const add = (flag: string, value: string | number | undefined): void => {
    // One word, so that no value is taken for a flag.
    if (value !== undefined) words.push(`${flag}=${value}`);
  };
  add('--open', options.target);
  add('--scheme', options.scheme);
  add('--device', options.device);
  add('--app-id', options.appId);
  add('--ttl', options.ttlSeconds);
  if (options.relaunch) words.push('--relaunch');
  const made = (await daemon.command(words, options.cwd)) as { sessionId: string; deepLink: string; expiresAt: number };
  return { sessionId: made.sessionId, url: made.deepLink, expiresAt: made.expiresAt };
}

async function webLink(daemon: Daemon, options: LinkOptions): Promise<Link> {
  const page = pageAddress(options.url);
  const { sessionId, payload, expiresAt } = await mintWebLink(daemon, options.ttlSeconds);
  const others = page.hash.slice(1);
  page.hash = `${others === '' ? '' : `${others}&`}appduct=${payload}`;
  return { sessionId, url: page.href, expiresAt };
}

/** A link for a page, as the payload that the page's `#appduct=` holds. */
export async function mintWebLink(
  daemon: Daemon,
  ttlSeconds?: number,
): Promise<{ sessionId: string; payload: string; expiresAt: number }> {
  const connection = await daemon.open();
  try {
    const made = await connection.request<{ sessionId: string; deepLinkPayload: string; expiresAt: number }>(
      'link.create',
      { transport: 'web', ttlSeconds },
      daemon.requestTimeoutMs,
    );
    return { sessionId: made.sessionId, payload: made.deepLinkPayload, expiresAt: made.expiresAt };
  } finally {
    connection.close();
  }
}

function pageAddress(url: string | undefined): URL {
  const page = url === undefined || !URL.canParse(url) ? undefined : new URL(url);
  if (page?.protocol !== 'http:' && page?.protocol !== 'https:') {
    throw new AppductError('client_error', 'a link for a page needs `url`, its http or https address');
  }
  return page;
}
