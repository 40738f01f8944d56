import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The browser of this machine. */
export function browserPath(): string {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // It is elsewhere.
      }
    }
  }
  throw new Error('the tests of pages need chromium on PATH');
}

/** How to start it: it talks to nobody but the page's daemon, and runs as root in a container too. */
export const BROWSER_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
