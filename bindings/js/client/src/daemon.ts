import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

import { findBinary } from './binary.js';
import { Connection } from './connection.js';
import { AppductError } from './errors.js';

/** Which daemon is meant. */
export interface DaemonOptions {
  /** The state directory; `APPDUCT_STATE_DIR`, else `~/.appduct`, where it is left out. */
  stateDir?: string | undefined;
  /** Whether a daemon is started where none answers. `true` where it is left out. */
  autoSpawn?: boolean | undefined;
  /** How long the daemon may take to answer, in milliseconds; a call has its own limit. 10000 where it is left out. */
  requestTimeoutMs?: number | undefined;
}

/** Longer paths do not fit into the address of a Unix socket, which ends with a zero byte. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;

const DEFAULT_REQUEST_TIMEOUT_MS = 10_000;
const COMMAND_TIMEOUT_MS = 60_000;
const MAX_COMMAND_OUTPUT_BYTES = 16 * 1_048_576;

/** One daemon, by its state directory. */
export class Daemon {
  readonly stateDir: string;
  readonly requestTimeoutMs: number;
  readonly #autoSpawn: boolean;

  constructor(options: DaemonOptions = {}) {
    this.stateDir = stateDirectory(options.stateDir);
    this.#autoSpawn = options.autoSpawn ?? true;
    this.requestTimeoutMs = options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
    if (!(this.requestTimeoutMs > 0)) {
      throw new AppductError('client_error', 'requestTimeoutMs has to be a positive number');
    }
  }

  /** A new connection; the daemon is started first where none answers and that is allowed. */
  async open(): Promise<Connection> {
    const path = join(this.stateDir, 'daemon.sock');
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
      throw new AppductError('connection_error', `${path} is too long for the address of a socket`, {
        hint: `choose a state directory whose daemon.sock has at most ${MAX_SOCKET_PATH_BYTES} bytes`,
      });
    }
    try {
      return await Connection.open(path, this.requestTimeoutMs);
    } catch (cause) {
      if (cause instanceof AppductError) throw cause;
      if (!isNobody(cause)) throw unreachable(path, cause);
      if (!this.#autoSpawn) throw unreachable(path, cause);
    }
    await this.command(['daemon', 'start']);
    try {
      return await Connection.open(path, this.requestTimeoutMs);
    } catch (cause) {
      throw cause instanceof AppductError ? cause : unreachable(path, cause);
    }
  }

  /** Runs a command of `appduct` for this daemon and returns its data. */
  command(words: readonly string[], cwd?: string): Promise<unknown> {
    const program = findBinary();
    const args = [...words, '--json', '--state-dir', this.stateDir];
    // A test that runs beside other clients must not end their sessions, whatever its environment says.
    const env = { ...process.env, APPDUCT_DAEMON_RESTART: '0' };
    const options = { cwd, env, timeout: COMMAND_TIMEOUT_MS, maxBuffer: MAX_COMMAND_OUTPUT_BYTES };
    return new Promise((done, fail) => {
      execFile(program, args, options, (error, stdout, stderr) => {
        const envelope = parse(stdout);
        if (envelope?.ok === true) done(envelope.data);
        else if (envelope?.ok === false) fail(commandError(envelope.error));
        else {
          const why = stderr.trim() || error?.message || 'it printed nothing';
          fail(new AppductError('connection_error', `appduct ${words.join(' ')} failed: ${why}`, { cause: error }));
        }
      });
    });
  }
}

function stateDirectory(named: string | undefined): string {
  const path = named ?? process.env['APPDUCT_STATE_DIR'];
  if (named === '' || path?.includes('\0')) {
    throw new AppductError('client_error', 'the state directory has to be the path of a directory');
  }
  return path === undefined || path === '' ? join(homedir(), '.appduct') : resolve(path);
}

function isNobody(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ECONNREFUSED';
}

function unreachable(path: string, cause: unknown): AppductError {
  const hint = isNobody(cause) ? 'start it with `appduct daemon start`, or leave out `autoSpawn: false`' : undefined;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppductError('connection_error', `no daemon answers at ${path}: ${why}`, { cause, hint });
}

function parse(text: string): { ok?: unknown; data?: unknown; error?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function commandError(error: unknown): AppductError {
  const { type, message, details, hint } = (error ?? {}) as Record<string, unknown>;
  return new AppductError(
    typeof type === 'string' ? type : 'connection_error',
    typeof message === 'string' ? message : 'the appduct command failed',
    { details, hint: typeof hint === 'string' ? hint : undefined },
  );
}
