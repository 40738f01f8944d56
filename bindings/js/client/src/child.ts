import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { AppductError } from './errors.js';

/**
 * What runs a program and outlives whoever asked for it by so much as it takes to end it: its standard input ends with the
 * worker, however that ends. The first argument is a folder to remove then, or nothing. A byte ends the program as a crash
 * would. A program that does not leave when asked to is ended after ten seconds.
 */
const KEEPER = `
const [, folder, program, ...args] = process.argv;
const child = require('node:child_process').spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
let leaving = false;
const leave = () => {
  leaving = true;
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), 10_000);
};
const end = (status) => {
  if (leaving && folder !== '') require('node:fs').rmSync(folder, { recursive: true, force: true });
  process.exit(status);
};
child.on('error', (error) => {
  console.error(error.message);
  end(127);
});
child.on('exit', (code, signal) => end(code ?? 128 + require('node:os').constants.signals[signal]));
process.stdin.on('data', () => child.kill('SIGKILL')).on('end', leave).on('error', leave);
process.on('SIGTERM', leave).on('SIGINT', () => {});
`;

/** So much of what a program prints is kept, its end. */
const MAX_OUTPUT_CHARS = 65_536;

/** A program that was started here and is ended here, and does not outlive this process. */
export class Child {
  readonly #process: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #listeners = new Set<() => void>();
  #output = '';
  #exit: string | undefined;

  /**
   * Starts it; that it cannot be started shows in {@link Child.until} and {@link Child.exit}. `folder` is removed when it has
   * been asked to leave.
   */
  constructor(
    readonly name: string,
    program: string,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv | undefined; cwd?: string | undefined; folder?: string | undefined } = {},
  ) {
    const { env, cwd, folder = '' } = options;
    const words = ['-e', KEEPER, '--', folder, program, ...args];
    this.#process = spawn(process.execPath, words, { env, cwd, stdio: 'pipe' });
    // One that has left already reads no more.
    this.#process.stdin?.on('error', () => {});
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-MAX_OUTPUT_CHARS);
        this.#changed();
      });
    }
    this.#process.once('error', (error) => this.#ended(error.message));
    this.#gone = once(this.#process, 'close').then(
      ([code, signal]) => this.#ended(`it ended with ${signal ?? `status ${code}`}`),
      () => {},
    );
  }

  /** What it has printed, the end of it. */
  get output(): string {
    return this.#output;
  }

  /** How it ended, or nothing while it runs. */
  get exit(): string | undefined {
    return this.#exit;
  }

  /** Waits until `ready` holds for what it has printed. Rejects where it ends before that. */
  async until(ready: (output: string) => boolean, timeoutMs: number): Promise<void> {
    let listener: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (why: string): void => reject(this.error(why));
        listener = () => {
          if (ready(this.#output)) resolve();
          else if (this.#exit !== undefined) fail(this.#exit);
        };
        timer = setTimeout(() => fail(`it was not ready within ${timeoutMs} ms`), timeoutMs);
        this.#listeners.add(listener);
        listener();
      });
    } finally {
      clearTimeout(timer);
      if (listener !== undefined) this.#listeners.delete(listener);
    }
  }

  /** Rejects when it ends. */
  untilGone(): Promise<never> {
    return this.#gone.then(() => Promise.reject(this.error(this.#exit ?? 'it ended')));
  }

  /** Asks it to leave, ends it if it does not, and waits. */
  async stop(): Promise<void> {
    this.#process.stdin?.end();
    await this.#gone;
  }

  /** Ends it without asking, as a crash would, and waits. */
  async kill(): Promise<void> {
    this.#process.stdin?.write('k');
    await this.#gone;
  }

  /** A failure of the program, with what it printed. */
  error(why: string): AppductError {
    return new AppductError('connection_error', `${this.name}: ${why}`, { details: { output: this.#output } });
  }

  #ended(how: string): void {
    this.#exit ??= how;
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
