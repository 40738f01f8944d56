import { callParams, followedCall, plainCall, type CallOptions } from './call.js';
import type { Connection } from './connection.js';
import { Daemon, type DaemonOptions } from './daemon.js';
import { within } from './deadline.js';
import { AppductError } from './errors.js';
import { EventStream, type EventOptions } from './events.js';
import { History } from './history.js';
import type { AppductEvent, DaemonStatus, EventPage, Session, Tool } from './protocol.js';
import type { AnyTools, ArgsOf, ResultOf, ToolMap, ToolName } from './tool_map.js';
import { warnOfDrift } from './version.js';

/** Which session of which daemon. */
export interface ConnectOptions extends DaemonOptions {
  /** The session's id or alias. Without it the only one is meant: none is `no_session`, several are `ambiguous_session`. */
  selector?: string | undefined;
}

/** Which kept events. */
export interface EventsSinceOptions {
  /** Only events with a greater `seq`; 0 where it is left out. */
  since?: number | undefined;
  /** The oldest so many. */
  limit?: number | undefined;
  /** The whole name; `*` stands for any characters. */
  name?: string | undefined;
  /** A larger payload comes as `payloadPreview` and `payloadBytes`. */
  payloadMaxBytes?: number | undefined;
}

/** How to wait for an event. */
export interface WaitForEventOptions {
  /** In milliseconds; 30000 where it is left out. */
  timeoutMs?: number | undefined;
  /** Only events with a greater `seq`; without it an event that the daemon has kept is one, too. */
  since?: number | undefined;
  /** A larger payload comes as `payloadPreview` and `payloadBytes`. */
  payloadMaxBytes?: number | undefined;
  /** Whether this is the one. */
  where?: ((event: AppductEvent) => boolean) | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

const DEFAULT_EVENT_TIMEOUT_MS = 30_000;
const TOOLS_PAGE = 500;

/** Finds the session and returns a client for it. The daemon is started where none answers. */
export async function connect<TTools extends ToolMap<TTools> = AnyTools>(
  options: ConnectOptions = {},
): Promise<AppClient<TTools>> {
  const daemon = new Daemon(options);
  const connection = await daemon.open();
  try {
    const limit = daemon.requestTimeoutMs;
    const { version } = await connection.request<DaemonStatus>('daemon.status', {}, limit);
    warnOfDrift(version);
    const session = await connection.request<Session>('sessions.describe', { selector: options.selector }, limit);
    return new AppClient<TTools>(daemon, connection, session, version);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * A client for the tools and events of one session.
 *
 * Its connection is opened anew by the next request after it was lost, and nothing is sent twice: what was running is
 * rejected with `connection_error`, because nobody knows whether the app has done it.
 */
export class AppClient<TTools extends ToolMap<TTools> = AnyTools> {
  /** The session's id. It outlives reconnects of the app and restarts of the daemon. */
  readonly sessionId: string;
  /** The session's alias. */
  readonly alias: string;
  /** The version of the daemon that answered first. */
  readonly daemonVersion: string;
  /** The calls so far, for reports. */
  readonly history = new History();
  readonly #daemon: Daemon;
  readonly #streams = new Set<EventStream>();
  readonly #closed = new AbortController();
  #connection: Promise<Connection>;

  /** Made by {@link connect}. */
  constructor(daemon: Daemon, connection: Connection, session: Session, daemonVersion: string) {
    this.#daemon = daemon;
    this.#connection = Promise.resolve(connection);
    this.sessionId = session.sessionId;
    this.alias = session.alias;
    this.daemonVersion = daemonVersion;
  }

  /** Calls a tool of the map and returns its result. */
  call<Name extends ToolName<TTools>>(
    name: Name,
    args?: ArgsOf<TTools, Name>,
    options?: CallOptions,
  ): Promise<ResultOf<TTools, Name>>;
  /** Calls a tool, where no map of tools is given, and returns its result, taken to be a `TResult`. */
  call<TResult = unknown>(
    name: string extends keyof TTools ? string : never,
    args?: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<TResult>;
  call(name: string, args?: unknown, options: CallOptions = {}): Promise<unknown> {
    const params = callParams(this.sessionId, name, args, options);
    return this.history.note(name, args ?? {}, async () => {
      this.#refuseIfClosed();
      if (options.signal === undefined && options.onProgress === undefined) {
        return plainCall(await this.#open(), params, options);
      }
      const signals = options.signal === undefined ? [] : [options.signal];
      const signal = AbortSignal.any([this.#closed.signal, ...signals]);
      try {
        return await followedCall(this.#daemon, params, { ...options, signal });
      } catch (error) {
        throw this.#closed.signal.aborted ? closed() : error;
      }
    });
  }

  /** Every tool of the app, by name. */
  async tools(options: { group?: string; filter?: string } = {}): Promise<Tool[]> {
    const tools: Tool[] = [];
    for (;;) {
      const params = { ...options, limit: TOOLS_PAGE, offset: tools.length };
      const page = await this.#request<{ tools: Tool[]; total: number } | Tool[]>('tools.list', params);
      // Daemons from before there were pages answer with all tools.
      const found = Array.isArray(page) ? page : page.tools;
      tools.push(...found.map((tool) => ({ ...tool, group: tool.group ?? null })));
      if (Array.isArray(page) || found.length === 0 || tools.length >= page.total) return tools;
    }
  }

  /** What the daemon says of the session. */
  session(): Promise<Session> {
    return this.#request('sessions.describe', {});
  }

  /** One page of the events that the daemon has kept. */
  eventsSince(options: EventsSinceOptions = {}): Promise<EventPage> {
    return this.#request('events.since', options);
  }

  /** The `since` for what the app posts from now on. */
  async eventCursor(): Promise<number> {
    const { cursor, remaining } = await this.eventsSince({ limit: 1, payloadMaxBytes: 1 });
    return cursor + remaining;
  }

  /** The events of the session as they come, to iterate over. Each stream has a connection of its own. */
  events(options: EventOptions = {}): EventStream {
    this.#refuseIfClosed();
    const stream = new EventStream(this.#daemon, this.sessionId, options);
    this.#streams.add(stream);
    stream.onEnd = () => this.#streams.delete(stream);
    return stream;
  }

  /**
   * Waits for an event that the app posts. `name` is the whole name; `*` stands for any characters. Rejects with `timeout`,
   * and with `unknown_session` where the session ends.
   */
  async waitForEvent<TPayload = unknown>(
    name: string,
    options: WaitForEventOptions = {},
  ): Promise<AppductEvent<TPayload>> {
    const { timeoutMs = DEFAULT_EVENT_TIMEOUT_MS, since = 0, payloadMaxBytes, where, signal } = options;
    this.#refuseIfClosed();
    return within({ timeoutMs, signal, what: `event ${name}` }, async (stopped) => {
      const stream = this.events({ name, since, payloadMaxBytes, signal: stopped });
      for await (const event of stream) {
        if (where === undefined || where(event)) return event as AppductEvent<TPayload>;
      }
      this.#refuseIfClosed();
      throw new AppductError('unknown_session', `the session ended before it posted ${name}`);
    });
  }

  /** Ends the session: the app has to be paired again. */
  async revoke(): Promise<void> {
    await this.#request('sessions.revoke', {});
  }

  /** Ends this client, its streams and its calls, which are rejected. The session lives on. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
    await this.#connection.then(
      (connection) => connection.close(),
      () => {},
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #request<T>(method: string, params: object): Promise<T> {
    const connection = await this.#open();
    return connection.request<T>(method, { selector: this.sessionId, ...params }, this.#daemon.requestTimeoutMs);
  }

  async #open(): Promise<Connection> {
    this.#refuseIfClosed();
    const last = this.#connection;
    const connection = await last.catch(() => undefined);
    // Another request may have begun to reconnect in between.
    if (connection?.isOpen !== true && this.#connection === last) this.#connection = this.#daemon.open();
    const open = await this.#connection;
    if (this.#closed.signal.aborted) open.close();
    this.#refuseIfClosed();
    return open;
  }

  #refuseIfClosed(): void {
    if (this.#closed.signal.aborted) throw closed();
  }
}

function closed(): AppductError {
  return new AppductError('connection_error', 'the client was closed');
}
