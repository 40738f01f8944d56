/** A JSON object of whatever keys. */
export type JsonObject = Record<string, unknown>;
