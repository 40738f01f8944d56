import type { Connection } from './connection.js';
import type { Daemon } from './daemon.js';
import { AppductError } from './errors.js';
import type { AppductEvent, EventKind, EventPage } from './protocol.js';

/** Which events an {@link EventStream} tells. */
export interface EventOptions {
  /** `['app_event']`, what the app posts, where it is left out. */
  kinds?: readonly EventKind[] | undefined;
  /** The whole name, case-sensitive; `*` stands for any characters. Only events with such a name come. */
  name?: string | undefined;
  /** Begin with what the app posted after this `seq` and the daemon still has; without it, with what comes from now on. */
  since?: number | undefined;
  /** A larger payload comes as `payloadPreview` and `payloadBytes`. */
  payloadMaxBytes?: number | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
}

/** What ends a session. The stream of a session listens for them whatever was asked for. */
const ENDS: readonly EventKind[] = ['session_revoked', 'session_expired'];

/** Over so many unread events the stream stops reading, and the daemon keeps them. */
const MAX_UNREAD = 1024;

/** A test for names: `*` stands for any characters, everything else for itself. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const literal = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  const expression = new RegExp(`^${literal.join('[^]*?')}$`, 'u');
  return (name) => expression.test(name);
}

/**
 * The events of one session, on a connection of its own. Iterate over it once; it ends when the loop is left, with
 * {@link EventStream.close}, and with the session. A daemon that goes away is a `connection_error` in the loop.
 */
export class EventStream implements AsyncIterableIterator<AppductEvent> {
  readonly #connection: Promise<Connection>;
  readonly #selector: string | undefined;
  readonly #kinds: readonly EventKind[];
  readonly #matches: (name: string) => boolean;
  readonly #hasName: boolean;
  #unread: AppductEvent[] = [];
  #waiting: { resolve(result: IteratorResult<AppductEvent>): void; reject(error: unknown): void }[] = [];
  /** The greatest `seq` that was told. */
  #seen: number;
  /** Live events that come while the kept ones are read; `undefined` afterwards. */
  #early: AppductEvent[] | undefined = [];
  #finished: { error?: unknown } | undefined;
  #paused = false;

  /** Called once, when it has ended for whatever reason. */
  onEnd: () => void = () => {};

  /** `selector` is a session's id; without one, every session is meant. */
  constructor(daemon: Daemon, selector: string | undefined, options: EventOptions = {}) {
    this.#selector = selector;
    this.#kinds = options.kinds ?? ['app_event'];
    this.#hasName = options.name !== undefined;
    this.#matches = nameMatcher(options.name ?? '*');
    this.#seen = options.since ?? 0;
    this.#connection = this.#start(daemon, options);
    this.#connection.catch((error: unknown) => this.#finish({ error }));
    if (options.signal?.aborted) this.close();
    else options.signal?.addEventListener('abort', () => this.close(), { once: true });
  }

  /** Resolves when the daemon has agreed to tell: what happens from then on is not missed. */
  async ready(): Promise<this> {
    await this.#connection;
    return this;
  }

  /** Ends it; a loop over it ends without an error. */
  close(): void {
    this.#finish({});
  }

  next(): Promise<IteratorResult<AppductEvent>> {
    const event = this.#unread.shift();
    if (event !== undefined) {
      if (this.#paused && this.#unread.length === 0) this.#pause(false);
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#finished !== undefined) return this.#end(this.#finished);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<AppductEvent>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  async #start(daemon: Daemon, options: EventOptions): Promise<Connection> {
    const connection = await daemon.open();
    if (this.#finished !== undefined) {
      connection.close();
      throw closed();
    }
    connection.hold();
    connection.onEvent = (event) => this.#live(event as AppductEvent);
    connection.onEnd = (error) => this.#finish({ error });
    const payloadMaxBytes = options.payloadMaxBytes;
    const limit = daemon.requestTimeoutMs;
    try {
      const ends = this.#selector === undefined ? [] : ENDS;
      const kinds = [...new Set([...this.#kinds, ...ends])];
      await connection.request('events.subscribe', { sessionSelector: this.#selector, kinds, payloadMaxBytes }, limit);
      if (options.since !== undefined) await this.#readKept(connection, payloadMaxBytes, limit);
    } catch (error) {
      this.#finish({ error });
      connection.close();
      throw error;
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const event of early) this.#live(event);
    return connection;
  }

  async #readKept(connection: Connection, payloadMaxBytes: number | undefined, limit: number): Promise<void> {
    for (let remaining = 1; remaining > 0 && this.#finished === undefined; ) {
      const params = { selector: this.#selector, since: this.#seen, limit: 256, payloadMaxBytes };
      const page = await connection.request<EventPage>('events.since', params, limit);
      for (const event of page.events) this.#tell(event);
      remaining = page.events.length === 0 ? 0 : page.remaining;
      this.#seen = Math.max(this.#seen, page.cursor);
    }
  }

  #live(event: AppductEvent): void {
    if (this.#early !== undefined) {
      this.#early.push(event);
      return;
    }
    this.#tell(event);
    if (ENDS.includes(event.kind) && this.#selector !== undefined) this.#finish({});
  }

  #tell(event: AppductEvent): void {
    if (event.seq > 0) {
      if (event.seq <= this.#seen) return;
      this.#seen = event.seq;
    }
    if (this.#finished !== undefined || !this.#kinds.includes(event.kind)) return;
    if (this.#hasName && !(typeof event.data.name === 'string' && this.#matches(event.data.name))) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value: event });
      return;
    }
    this.#unread.push(event);
    if (this.#unread.length >= MAX_UNREAD && this.#early === undefined) this.#pause(true);
  }

  #pause(paused: boolean): void {
    this.#paused = paused;
    this.#connection.then(
      (connection) => (paused ? connection.pause() : connection.resume()),
      () => {},
    );
  }

  #finish(finished: { error?: unknown }): void {
    if (this.#finished !== undefined) return;
    this.#finished = finished;
    this.onEnd();
    this.#connection?.then(
      (connection) => connection.close(),
      () => {},
    );
    for (const waiting of this.#waiting.splice(0)) this.#end(finished).then(waiting.resolve, waiting.reject);
  }

  #end(finished: { error?: unknown }): Promise<IteratorResult<AppductEvent>> {
    if (finished.error === undefined) return Promise.resolve({ done: true, value: undefined });
    return Promise.reject(finished.error);
  }
}

function closed(): AppductError {
  return new AppductError('connection_error', 'the stream was closed');
}
