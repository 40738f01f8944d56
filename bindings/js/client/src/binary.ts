import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';

import { AppductError } from './errors.js';

/**
 * The `appduct` command: `APPDUCT_BIN`, else the first on `PATH`, else the npm package that carries it for this system.
 * Throws `connection_error` where there is none.
 */
export function findBinary(env: NodeJS.ProcessEnv = process.env): string {
  const named = env['APPDUCT_BIN'];
  if (named !== undefined && named !== '') {
    const path = resolve(named);
    if (isProgram(path)) return path;
    throw missing(`APPDUCT_BIN names ${path}, which is no program`);
  }
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    // An empty entry of PATH is the working directory, where a program of that name is more likely planted than meant.
    const path = folder === '' ? '' : join(folder, 'appduct');
    if (path !== '' && isProgram(path)) return resolve(path);
  }
  return inPackage() ?? missingEverywhere();
}

function inPackage(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageName()}/package.json`);
    const path = join(dirname(manifest), 'bin', 'appduct');
    return isProgram(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function packageName(): string {
  return `@appduct/cli-${process.platform}-${process.arch}`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function missingEverywhere(): never {
  throw missing(`the appduct command is neither on PATH nor in the package ${packageName()}`);
}

function missing(message: string): AppductError {
  return new AppductError('connection_error', message, {
    hint: `install it, add the package ${packageName()}, or set APPDUCT_BIN to its path`,
  });
}
