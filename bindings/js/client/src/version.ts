import { createRequire } from 'node:module';

/** The version of this package. */
export const VERSION = (createRequire(import.meta.url)('../package.json') as { version: string }).version;

const told = new Set<string>();

/**
 * Warns once of a daemon of another version. It is used as it is: others may have sessions with it, and what it cannot do
 * is an error of its own.
 */
export function warnOfDrift(daemon: string, ours = VERSION): void {
  if (isSame(daemon, ours) || told.has(daemon)) return;
  told.add(daemon);
  process.emitWarning(`the daemon is version ${daemon}, and @appduct/client is ${ours}`, {
    code: 'APPDUCT_VERSION',
    detail: 'Use the same version of both; `appduct daemon stop` ends the daemon, and the next command starts another.',
  });
}

/** Whether two versions are the same: build metadata does not count, and `1.2` is `1.2.0`. */
export function isSame(one: string, other: string): boolean {
  return normal(one) === normal(other);
}

function normal(version: string): string {
  const [plain = ''] = version.split('+');
  const [numbers = '', ...pre] = plain.split('-');
  const parts = numbers.split('.');
  while (parts.length < 3) parts.push('0');
  return [parts.join('.'), ...pre].join('-');
}
