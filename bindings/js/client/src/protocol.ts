import type { JsonObject } from './json.js';

/** What an app says of the device it runs on. */
export interface Device {
  manufacturer?: string;
  model?: string;
  os?: string;
}

/** A live session: an app that is connected, or may come back. */
export interface Session {
  sessionId: string;
  alias: string;
  state: 'active' | 'suspended';
  device: Device;
  /** ISO 8601, UTC; when the link was made. */
  createdAt: string;
  /** ISO 8601, UTC. */
  claimedAt: string;
  suspendedAt?: string;
  suspendReason?: string;
  toolCount: number;
  /** `true` while the app has yet to say which tools it has. */
  toolsPending?: boolean;
}

/** A tool as the app registered it, with its group and what the policy makes of it. */
export interface Tool {
  name: string;
  description: string;
  group: string | null;
  policy?: 'allow' | 'deny' | 'prompt';
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  timeout_ms?: number;
}

/** The kinds of events. */
export type EventKind =
  | 'daemon_started'
  | 'link_created'
  | 'link_expired'
  | 'session_claimed'
  | 'session_suspended'
  | 'session_resumed'
  | 'session_revoked'
  | 'session_expired'
  | 'tools_changed'
  | 'events_changed'
  | 'app_event'
  | 'tool_call_started'
  | 'tool_call_progress'
  | 'tool_call_finished';

/** Something that happened to a session, or that its app posted. */
export interface AppductEvent<TPayload = unknown> {
  kind: EventKind;
  sessionId?: string;
  alias?: string;
  data: EventData<TPayload>;
  /** When the daemon saw it, in Unix milliseconds. */
  ts: number;
  /** From 1 without gaps for what the app posted, else 0. */
  seq: number;
}

/** What an event tells; which keys there are depends on the kind. */
export interface EventData<TPayload = unknown> {
  [key: string]: unknown;
  /** The name that the app gave the event, or of the tool. */
  name?: string;
  payload?: TPayload;
  /** In place of a payload that is larger than `payloadMaxBytes`: its beginning. */
  payloadPreview?: string;
  /** The size of such a payload. */
  payloadBytes?: number;
  truncated?: boolean;
}

/** One page of the events that the daemon has kept. */
export interface EventPage {
  events: AppductEvent[];
  /** The `since` of the next page. */
  cursor: number;
  /** How many events after `since` the daemon no longer has. */
  dropped: number;
  /** How many more there are. */
  remaining: number;
}

/** `daemon.status`, as far as this package needs it. What a daemon does not report is absent. */
export interface DaemonStatus {
  version: string;
  pid: number;
  wssPort: number;
  webPort?: number;
  sessions: Session[];
}
