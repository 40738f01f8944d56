import type { Connection } from './connection.js';
import type { Daemon } from './daemon.js';
import { AppductError } from './errors.js';
import type { JsonObject } from './json.js';

/** What an app says of a call that runs. */
export interface Progress {
  /** By habit from 0 to 1; what it means is up to the tool. */
  progress?: number;
  message?: string;
}

/** How to make a call. */
export interface CallOptions {
  /** How long the app may take, in milliseconds, brought into 1000 to 600000. Without it the tool's own, else 10000. */
  timeoutMs?: number | undefined;
  /** Cancels the call in the app. The call is then rejected with `tool_cancelled`, whose `cause` is the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called for each report of progress. What it throws cancels the call and rejects it. */
  onProgress?: ((progress: Progress) => unknown) | undefined;
  /** Says that a person has agreed to this call; needed where the policy says `prompt`. */
  consent?: 'elicitation' | undefined;
  /** `false` leaves it to the app to check the arguments. */
  validate?: boolean | undefined;
}

const MIN_TIMEOUT_MS = 1000;
const MAX_TIMEOUT_MS = 600_000;
/** The daemon's own timeout comes first. */
const TRANSPORT_MARGIN_MS = 5000;
/** How long the answer to a cancelled call is waited for. */
const CANCEL_PATIENCE_MS = 5000;

interface Reply {
  result: unknown;
  callId: string;
}

/** How long to wait for the answer to a call. */
export function transportTimeout(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined || !Number.isFinite(timeoutMs)) return MAX_TIMEOUT_MS + TRANSPORT_MARGIN_MS;
  return Math.min(Math.max(Math.trunc(timeoutMs), MIN_TIMEOUT_MS), MAX_TIMEOUT_MS) + TRANSPORT_MARGIN_MS;
}

/** What to send for a call. */
export function callParams(selector: string, name: string, args: unknown, options: CallOptions): JsonObject {
  const { timeoutMs, consent, validate } = options;
  return {
    selector,
    name,
    args: args ?? {},
    timeoutMs: Number.isFinite(timeoutMs) ? timeoutMs : undefined,
    consent,
    validate,
    caller: 'client',
  };
}

/** Makes a call on a connection that others use too. It can neither be cancelled nor followed. */
export async function plainCall(connection: Connection, params: JsonObject, options: CallOptions): Promise<unknown> {
  const reply = await connection.request<Reply>('tools.call', params, transportTimeout(options.timeoutMs));
  return reply.result;
}

/**
 * Makes a call on a connection of its own, so that the events on it are those of this call, and to hang up cancels it even
 * where the daemon has not said its id.
 */
export async function followedCall(daemon: Daemon, params: JsonObject, options: CallOptions): Promise<unknown> {
  const { signal, onProgress, timeoutMs } = options;
  if (signal?.aborted) throw cancelled(signal);
  const connection = await daemon.open();
  let callId: string | undefined;
  let thrown: { error: unknown } | undefined;
  connection.onEvent = (params) => {
    const { kind, data } = params as { kind: string; data: JsonObject };
    if (kind === 'tool_call_started') callId = data['callId'] as string;
    if (kind !== 'tool_call_progress' || thrown !== undefined) return;
    try {
      onProgress?.(progressIn(data));
    } catch (error) {
      thrown = { error };
      connection.close();
    }
  };
  const reply = connection.request<Reply>('tools.call', { ...params, follow: true }, transportTimeout(timeoutMs));
  const stop = (): void => {
    if (callId === undefined) {
      connection.close();
      return;
    }
    const cancel = { selector: params['selector'], callId, reason: 'client_cancelled' };
    connection.request('tools.cancel', cancel, CANCEL_PATIENCE_MS).catch(() => connection.close());
    setTimeout(() => connection.close(), CANCEL_PATIENCE_MS).unref();
  };
  try {
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
    const { result } = await reply;
    if (signal?.aborted) throw cancelled(signal);
    return result;
  } catch (error) {
    if (thrown !== undefined) throw thrown.error;
    throw signal?.aborted ? cancelled(signal, error) : error;
  } finally {
    signal?.removeEventListener('abort', stop);
    connection.close();
  }
}

function progressIn(data: JsonObject): Progress {
  const { progress, message } = data;
  return {
    ...(typeof progress === 'number' ? { progress } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

function cancelled(signal: AbortSignal, error?: unknown): AppductError {
  const details = error instanceof AppductError ? error.details : undefined;
  return new AppductError('tool_cancelled', 'the call was cancelled', { cause: signal.reason, details });
}
