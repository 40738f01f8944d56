/**
 * What a test knows of its app's tools, for the types of {@link AppClient.call}:
 *
 *     interface Tools { sum: { args: { a: number; b: number }; result: { total: number } } }
 */
export type ToolMap<TTools> = { [Name in keyof TTools]: { args: unknown; result: unknown } };

/** Where nothing is known of the tools. */
export type AnyTools = Record<string, { args: Record<string, unknown>; result: unknown }>;

/** The names in a map of tools; none where nothing is known of them. */
export type ToolName<TTools> = string extends keyof TTools ? never : keyof TTools & string;

/** The arguments of a tool in the map. */
export type ArgsOf<TTools, Name extends keyof TTools> = TTools[Name] extends { args: infer Args } ? Args : never;

/** The result of a tool in the map. */
export type ResultOf<TTools, Name extends keyof TTools> = TTools[Name] extends { result: infer Result }
  ? Result
  : never;
