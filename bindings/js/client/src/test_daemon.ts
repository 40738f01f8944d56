import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findBinary } from './binary.js';
import { Child } from './child.js';
import { connect, type AppClient } from './client.js';
import { AppductError } from './errors.js';
import { link, type Link, type LinkOptions } from './link.js';
import { attachPage, type Page } from './page.js';
import type { Session } from './protocol.js';
import { waitForSession } from './sessions.js';
import type { AnyTools, ToolMap } from './tool_map.js';

/** An app that is a program on this machine. */
export interface ProgramUnderTest {
  /** The program and its arguments. In each, `{link}` becomes the link that pairs the app. */
  command: readonly [string, ...string[]];
  /** The app's link scheme; `appduct` where it is left out. */
  scheme?: string | undefined;
  /** Its environment, over this one. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Its working directory. */
  cwd?: string | undefined;
}

/**
 * What is tested: a program, or a function that opens the app in any other way, for example on a device with
 * `daemon.link({ target: 'android', appId })`, and returns the link, or its `sessionId`.
 */
export type AppUnderTest = ProgramUnderTest | ((daemon: TestDaemon) => Promise<{ sessionId: string; expiresAt?: number }>);

/** How to start a daemon for tests. */
export interface TestDaemonOptions {
  /**
   * What goes into its `config.json`. A port that the system chooses and links to this machine alone are added where nothing
   * else is said; a phone on the network needs `advertisedIp: null`.
   */
  config?: Record<string, unknown> | undefined;
  /** How long the daemon and each app may take to be there, in milliseconds; 120000 where it is left out. */
  startTimeoutMs?: number | undefined;
}

const DEFAULT_START_TIMEOUT_MS = 120_000;

/** The demo app that the `appduct` command has in itself. */
export function playground(): ProgramUnderTest {
  return { command: [findBinary(), 'playground', '--link', '{link}'] };
}

/** A daemon of its own in a state directory of its own, with the apps that were started for it. */
export class TestDaemon {
  /** The directory, which vanishes with the daemon. */
  readonly stateDir: string;
  readonly #child: Child;
  readonly #apps: Child[] = [];
  readonly #startTimeoutMs: number;

  /** Starts a daemon and waits until it answers. */
  static async start(options: TestDaemonOptions = {}): Promise<TestDaemon> {
    const daemon = new TestDaemon(options);
    try {
      // It says so once it listens.
      await daemon.#child.until((output) => output.includes('"ok":true'), daemon.#startTimeoutMs);
      return daemon;
    } catch (error) {
      await daemon.stop();
      throw error;
    }
  }

  private constructor(options: TestDaemonOptions) {
    const program = findBinary();
    this.#startTimeoutMs = options.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS;
    this.stateDir = mkdtempSync(join(tmpdir(), 'appduct-'));
    const config = { wssPort: 0, advertisedIp: '127.0.0.1', ...options.config };
    writeFileSync(join(this.stateDir, 'config.json'), JSON.stringify(config));
    const words = ['daemon', 'run', '--json', '--state-dir', this.stateDir];
    this.#child = new Child('the daemon', program, words, { folder: this.stateDir });
  }

  /** Makes a link of this daemon. */
  link(options: Omit<LinkOptions, 'stateDir'> = {}): Promise<Link> {
    return link({ ...options, stateDir: this.stateDir, autoSpawn: false });
  }

  /** Waits for a session of this daemon. */
  waitForSession(
    session: Parameters<typeof waitForSession>[0],
    options: { timeoutMs?: number } = {},
  ): Promise<Session> {
    return waitForSession(session, { ...options, stateDir: this.stateDir, autoSpawn: false });
  }

  /** A client for a session of this daemon. */
  connect<TTools extends ToolMap<TTools> = AnyTools>(selector?: string): Promise<AppClient<TTools>> {
    return connect<TTools>({ selector, stateDir: this.stateDir, autoSpawn: false });
  }

  /** Opens a page under test at `url` and pairs it. */
  async openPage(page: Page, url: string): Promise<Session> {
    const made = await this.link({ target: 'web', url });
    return attachPage(page, { link: made, stateDir: this.stateDir, autoSpawn: false });
  }

  /** Starts the app, pairs it and waits until it is connected with its tools. */
  async startApp(app: AppUnderTest): Promise<Session> {
    if (typeof app === 'function') {
      const { sessionId, expiresAt = Infinity } = await app(this);
      return this.waitForSession({ sessionId, expiresAt }, { timeoutMs: this.#startTimeoutMs });
    }
    const made = await this.link({ scheme: app.scheme ?? 'appduct' });
    const [program, ...args] = app.command.map((word) => word.replaceAll('{link}', () => made.url));
    if (program === undefined) throw new AppductError('client_error', 'the command of the app is empty');
    const child = new Child('the app', program, args, { env: { ...process.env, ...app.env }, cwd: app.cwd });
    this.#apps.push(child);
    const connected = this.waitForSession(made, { timeoutMs: this.#startTimeoutMs });
    return Promise.race([connected, child.untilGone()]);
  }

  /** What the programs under test have printed, the end of it. */
  get appOutput(): string {
    return this.#apps.map((app) => app.output).join('');
  }

  /** Ends the programs under test as a crash would. */
  async killApps(): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.kill()));
  }

  /** Ends the daemon as a crash would. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  /** Ends the apps and the daemon, and removes the directory. */
  async stop(): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.stop()));
    await this.#child.stop();
    // Where the daemon had ended before, the directory is there still.
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
