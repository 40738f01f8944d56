/**
 * The error types of the control socket, and three of this client: `connection_error` (the daemon cannot be reached, or
 * went away), `timeout` (a wait of this client passed) and `client_error` (what was asked for cannot be asked for).
 */
export const ERROR_TYPES = [
  'no_session',
  'ambiguous_session',
  'unknown_session',
  'session_not_active',
  'session_suspended',
  'tool_not_found',
  'tool_input_validation_error',
  'tool_output_validation_error',
  'tool_execution_error',
  'tool_serialization_error',
  'tool_timeout',
  'tool_cancelled',
  'policy_denied',
  'invalid_request',
  'connection_error',
  'timeout',
  'client_error',
] as const;

/** One of the types, or another that a newer daemon has. */
export type AppductErrorType = (typeof ERROR_TYPES)[number] | (string & {});

/** What comes with an error besides its type and message. */
export interface AppductErrorOptions {
  /** The code of JSON-RPC, where the daemon answered. */
  code?: number | undefined;
  /** What the app or the daemon added, as they sent it. */
  details?: unknown;
  /** What a person may do next. */
  hint?: string | undefined;
  /** What led to it. */
  cause?: unknown;
}

/** Every failure of this package. Decide by `type`; the message is for people. */
export class AppductError extends Error {
  override readonly name = 'AppductError';
  /** The type, as on the wire. */
  readonly type: AppductErrorType;
  /** The code of JSON-RPC, where the daemon answered. */
  readonly code: number | undefined;
  /** What the app or the daemon added, as they sent it. */
  readonly details: unknown;
  /** What a person may do next, where that is known. */
  readonly hint: string | undefined;

  constructor(type: AppductErrorType, message: string, options: AppductErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.type = type;
    this.code = options.code;
    this.details = options.details;
    this.hint = options.hint ?? hintIn(options.details) ?? HINTS[type];
  }

  /** The error without its stack, for reports. */
  toJSON(): Record<string, unknown> {
    const { type, message, code, details, hint } = this;
    return { type, message, code, details, hint };
  }
}

const HINTS: Record<string, string> = {
  no_session: 'pair an app first: `link()` makes a link to open in it, `waitForSession()` waits for it',
  ambiguous_session: 'name one of the sessions: `connect({ selector })`',
  unknown_session: '`appduct ls` lists the live sessions',
  session_not_active: 'open the app; `waitForSession()` tells when it is connected again',
  session_suspended: 'open the app; `waitForSession()` tells when it is connected again',
  tool_not_found: '`client.tools()` lists what the app offers',
  tool_input_validation_error: 'each of `details.issues` names a path in the arguments and what is wrong there',
  tool_timeout: 'the app sets a longer limit where it registers the tool; `timeoutMs` sets one for this call',
};

function hintIn(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('hint' in details)) return undefined;
  return typeof details.hint === 'string' ? details.hint : undefined;
}

const METHOD_NOT_FOUND = -32601;

/** The error that an error reply of the daemon tells of. */
export function errorOfReply(error: unknown, method: string): AppductError {
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
  const { type, details } = (data ?? {}) as { type?: unknown; details?: unknown };
  const text = typeof message === 'string' ? message : 'the daemon sent an error without a message';
  const number = typeof code === 'number' ? code : undefined;
  if (typeof type === 'string') return new AppductError(type, text, { code: number, details });
  const hint =
    number === METHOD_NOT_FOUND
      ? `the daemon has no ${method}, so it is older than this package: update it and run \`appduct daemon stop\``
      : undefined;
  return new AppductError('client_error', text, { code: number, details, hint });
}
