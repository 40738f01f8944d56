import { AppductError } from './errors.js';

/** How a wait may end early. */
export interface Patience {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** What is waited for, for the message. */
  what: string;
}

/**
 * Runs `work` with a signal that fires when it is no longer waited for. Rejects with `timeout` when the time is up, and with
 * `client_error` when the caller aborts.
 */
export async function within<T>(patience: Patience, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { timeoutMs, signal, what } = patience;
  if (!(timeoutMs >= 0)) throw new AppductError('client_error', 'timeoutMs has to be a number from 0');
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const early = new Promise<never>((_, reject) => {
    // Node fires longer timers at once.
    if (timeoutMs <= 0x7fff_ffff) {
      timer = setTimeout(() => reject(new AppductError('timeout', `${what}: nothing within ${timeoutMs} ms`)), timeoutMs);
    }
    onAbort = () => reject(new AppductError('client_error', `${what}: aborted`, { cause: signal?.reason }));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    const done = signal?.aborted ? early : Promise.race([early, work(stop.signal)]);
    return await done;
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    stop.abort();
  }
}
