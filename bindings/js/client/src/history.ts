import type { AppductError } from './errors.js';

/** A call that a client has made. */
export interface CallRecord {
  tool: string;
  args: unknown;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Absent while the call runs. */
  durationMs?: number;
  result?: unknown;
  error?: Record<string, unknown>;
}

/** So many calls are kept, the newest. */
const MAX_CALLS = 200;

/** The calls of a client, for the report of a failed test. */
export class History {
  #calls: CallRecord[] = [];

  /** The calls, oldest first. */
  get calls(): readonly CallRecord[] {
    return this.#calls;
  }

  /** Notes a call and how it ends, and passes that on. */
  async note<T>(tool: string, args: unknown, call: () => Promise<T>): Promise<T> {
    const record: CallRecord = { tool, args, startedAt: new Date().toISOString() };
    const start = performance.now();
    this.#calls.push(record);
    if (this.#calls.length > MAX_CALLS) this.#calls.shift();
    try {
      const result = await call();
      record.result = result;
      return result;
    } catch (error) {
      record.error = (error as AppductError).toJSON?.() ?? { message: String(error) };
      throw error;
    } finally {
      record.durationMs = Math.round(performance.now() - start);
    }
  }

  /** Forgets them. */
  clear(): void {
    this.#calls = [];
  }
}
