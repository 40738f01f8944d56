import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { AppductError } from './errors.js';

/** How long a program may take to leave after it was asked to. */
const LEAVE_MS = 10_000;

/** So much of what a program prints is kept, its end. */
const MAX_OUTPUT_CHARS = 65_536;

/** A program that was started here and is ended here, by its handle. */
export class Child {
  readonly #process: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #kill: () => void;
  readonly #listeners = new Set<() => void>();
  #output = '';
  #exit: string | undefined;

  /** Starts it; that it cannot be started shows in {@link Child.until} and {@link Child.exit}. */
  constructor(
    readonly name: string,
    program: string,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv | undefined; cwd?: string | undefined } = {},
  ) {
    this.#process = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    // A worker that ends in a hurry runs nothing else.
    this.#kill = () => this.#process.kill('SIGKILL');
    process.once('exit', this.#kill);
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
    if (this.#exit === undefined) this.#process.kill('SIGTERM');
    const timer = setTimeout(this.#kill, LEAVE_MS);
    await this.#gone;
    clearTimeout(timer);
    process.removeListener('exit', this.#kill);
  }

  /** Ends it without asking, as a crash would, and waits. */
  async kill(): Promise<void> {
    this.#kill();
    await this.#gone;
    process.removeListener('exit', this.#kill);
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
