import { createConnection, type Socket } from 'node:net';

import { AppductError, errorOfReply } from './errors.js';
import { LineDecoder } from './lines.js';

/** The daemon ends a connection that sends a longer request line. */
export const MAX_REQUEST_BYTES = 1_048_576;

/** Replies have no limit of their own. This one keeps a stream that never ends a line from taking all memory. */
const MAX_REPLY_BYTES = 256 * 1_048_576;

interface Pending {
  method: string;
  timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: AppductError): void;
}

/** One connection to the daemon's control socket. It is never reopened: its owner opens another. */
export class Connection {
  readonly #socket: Socket;
  readonly #lines = new LineDecoder(MAX_REPLY_BYTES);
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: AppductError | undefined;
  #holds = false;

  /** Called with `params` of each notification. */
  onEvent: (params: unknown) => void = () => {};
  /** Called once, when the connection has ended for whatever reason. */
  onEnd: (error: AppductError) => void = () => {};

  /** Connects. A socket that is not there or refuses is the error of Node, with its `code`. */
  static open(path: string, timeoutMs: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ path });
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new AppductError('connection_error', `the daemon at ${path} does not accept connections`));
      }, timeoutMs);
      socket.once('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      socket.once('connect', () => {
        clearTimeout(timer);
        socket.removeAllListeners('error');
        resolve(new Connection(socket));
      });
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (cause) => this.#end(new AppductError('connection_error', 'the daemon went away', { cause })));
    socket.on('close', () => this.#end(new AppductError('connection_error', 'the daemon closed the connection')));
    this.#keepAwake();
  }

  /** Whether it can still be used. */
  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /** Asks and waits for the answer. */
  request<T>(method: string, params: object, timeoutMs: number): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId;
    this.#nextId += 1;
    let line: string;
    try {
      line = encode(id, method, params);
    } catch (error) {
      return Promise.reject(error as AppductError);
    }
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        this.#keepAwake();
        reject(new AppductError('timeout', `the daemon did not answer ${method} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#pending.set(id, { method, timer, resolve: resolve as (result: unknown) => void, reject });
      this.#keepAwake();
      this.#socket.write(line);
    });
  }

  /** Keeps the process alive while nothing is asked, too: somebody waits for notifications. */
  hold(): void {
    this.#holds = true;
    this.#keepAwake();
  }

  /** Stops reading, so that the daemon buffers instead of this process. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads again. */
  resume(): void {
    this.#socket.resume();
  }

  /** Ends it. What is asked and not answered is rejected, and the daemon cancels it. */
  close(): void {
    this.#end(new AppductError('connection_error', 'the client was closed'));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const line of this.#lines.push(chunk)) {
        this.#take(line);
        if (this.#ended !== undefined) return;
      }
    } catch (cause) {
      this.#end(new AppductError('connection_error', 'the daemon sent what is no reply', { cause }));
    }
  }

  #take(line: string): void {
    const message: unknown = JSON.parse(line);
    if (typeof message !== 'object' || message === null) throw new TypeError('the line holds no object');
    const { id, method, params, result, error } = message as Record<string, unknown>;
    if (method === 'event') {
      this.onEvent(params);
      return;
    }
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined) return;
    this.#pending.delete(id as number);
    clearTimeout(pending.timer);
    this.#keepAwake();
    if (error === undefined) pending.resolve(result);
    else pending.reject(errorOfReply(error, pending.method));
  }

  #end(error: AppductError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#socket.destroy();
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(error);
    }
    this.#pending.clear();
    this.onEnd(error);
  }

  /** A client that somebody forgot to close does not keep a finished program running. */
  #keepAwake(): void {
    if (this.#holds || this.#pending.size > 0) this.#socket.ref();
    else this.#socket.unref();
  }
}

function encode(id: number, method: string, params: object): string {
  const type = method === 'tools.call' ? 'tool_serialization_error' : 'client_error';
  let text: string;
  try {
    text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  } catch (cause) {
    throw new AppductError(type, `the arguments are no JSON: ${(cause as Error).message}`, { cause });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_REQUEST_BYTES) {
    throw new AppductError(type, `the request has ${bytes} bytes, over the limit of ${MAX_REQUEST_BYTES}`);
  }
  return `${text}\n`;
}
