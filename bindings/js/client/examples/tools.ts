/** The tools of the app under test, for the types of `app.call`. */
export interface Tools {
  sum: { args: { a: number; b: number }; result: { total: number } };
  call_count: { args: Record<string, never>; result: { count: number } };
  reset_counter: { args: Record<string, never>; result: { count: number } };
  slow_task: { args: Record<string, never>; result: { done: boolean } };
  throwing_tool: { args: Record<string, never>; result: never };
}
