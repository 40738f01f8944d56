// What every client written in JavaScript has to see. `checks.py` asks the same of those written in Python.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** How long one check may take. Reached only by what is broken. */
const LIMIT_MS = 90_000;

export const [program, stateDir, journal] = process.argv.slice(2);

export const TOOLS = [
  "appduct_call_tool",
  "appduct_connect",
  "appduct_describe_tool",
  "appduct_events",
  "appduct_list_events",
  "appduct_list_tools",
  "appduct_sessions",
  "appduct_wait_for_event",
  "appduct_wait_for_session",
];

export const GROUPS = [
  { group: "counter", total: 2 },
  { group: "diagnostics", total: 2 },
  { group: "diagnostics/progress", total: 1 },
  { group: null, total: 1 },
];

/** The environment of every server: a state directory of its own, and nothing of the caller's settings. */
export function serverEnvironment() {
  return { PATH: process.env.PATH, HOME: stateDir, APPDUCT_STATE_DIR: stateDir };
}

/** Prints one line for each check; the last line says that none was left out. */
export class Report {
  #failed = 0;

  async check(name, body) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`took longer than ${LIMIT_MS} ms`)), LIMIT_MS);
    });
    try {
      await Promise.race([body(), late]);
      console.log(`ok ${name}`);
    } catch (error) {
      this.#failed += 1;
      console.log(`not ok ${name}: ${String(error?.message ?? error).replaceAll(/\s+/g, " ").slice(0, 600)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  finish() {
    console.log("done");
    process.exit(this.#failed === 0 ? 0 : 1);
  }
}

/** The lines that the app has printed, from a position on. */
export class Journal {
  #from = readFileSync(journal, "utf8").length;

  /** Waits until the app has printed `text`. */
  async shows(text) {
    const deadline = Date.now() + LIMIT_MS;
    while (!readFileSync(journal, "utf8").slice(this.#from).includes(text)) {
      assert(Date.now() < deadline, `the app never printed "${text}"`);
      await pause(10);
    }
  }

  has(text) {
    return readFileSync(journal, "utf8").slice(this.#from).includes(text);
  }
}

export function textOf(result) {
  assert.equal(result.content.length, 1, JSON.stringify(result));
  assert.equal(result.content[0].type, "text");
  return result.content[0].text;
}

/** The value of a successful result, which is there twice where it is an object: as data, and as the same text. */
export function valueOf(result) {
  assert(!result.isError, JSON.stringify(result));
  const text = textOf(result);
  const value = JSON.parse(text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  assert.deepEqual(result.structuredContent, isObject ? value : undefined);
  assert.equal(text, JSON.stringify(value), "the text is compact");
  return value;
}

/** Asserts that a result is a failure of this type, in the form that all failures have. */
export function failsWith(result, type) {
  assert.equal(result.isError, true, JSON.stringify(result));
  assert.equal(result.structuredContent, undefined);
  assert(textOf(result).startsWith(`${type}: `), `expected ${type}, got ${textOf(result)}`);
}

/**
 * Runs all checks.
 *
 * `open({ args, answer })` starts a server with `args` after `mcp` and connects to it. Without `answer` the client says that
 * it cannot ask anybody; with it, it is called with every question and returns `accept`, `decline` or `cancel`. What `open`
 * returns has `instructions`, `protocolVersion`, `errors`, `tools()`, `resource(uri)`,
 * `call(name, args, { signal, onProgress })` and `close()`.
 */
export async function everything(open, isModern) {
  const report = new Report();
  const questions = [];
  const ask = (answer) => (question) => {
    questions.push(question);
    return answer;
  };
  const peer = await open({ answer: ask("accept") });
  const app = (name, args = {}, options = {}) => peer.call("appduct_call_tool", { name, args }, options);
  const count = async () => valueOf(await app("call_count")).count;

  await report.check("negotiates the era", async () => {
    assert.equal(peer.protocolVersion >= "2026-07-28", isModern, peer.protocolVersion);
  });
  await report.check("reads the instructions", async () => {
    const bytes = Buffer.byteLength(peer.instructions ?? "");
    assert(bytes > 0 && bytes <= 1536, `${bytes} bytes`);
  });
  await report.check("lists the built-in tools in few bytes", async () => {
    const listed = await peer.tools();
    assert.deepEqual(listed.tools.map((tool) => tool.name).sort(), TOOLS);
    assert(Buffer.byteLength(JSON.stringify(listed)) < 8192);
    for (const tool of listed.tools) assert(tool.title && tool.annotations, tool.name);
  });
  await report.check("lists the sessions", async () => {
    const { sessions } = valueOf(await peer.call("appduct_sessions", {}));
    assert.deepEqual(sessions.map((session) => session.alias), ["playground"]);
  });
  await report.check("reads the resource of sessions", async () => {
    const { contents } = await peer.resource("appduct://sessions");
    assert.equal(JSON.parse(contents[0].text).sessions?.[0]?.alias ?? JSON.parse(contents[0].text)[0].alias, "playground");
  });
  await report.check("lists the app's tools and groups", async () => {
    const listed = valueOf(await peer.call("appduct_list_tools", {}));
    assert.equal(listed.total, 5);
    assert.equal(listed.tools.length, 5);
    assert.deepEqual(listed.groups, GROUPS);
  });
  await report.check("narrows to one group", async () => {
    const listed = valueOf(await peer.call("appduct_list_tools", { group: "diagnostics" }));
    const tools = listed.tools.map((tool) => [tool.name, tool.group]);
    assert.deepEqual(tools, [["slow_task", "diagnostics/progress"], ["throwing_tool", "diagnostics"]]);
    assert.equal(listed.total, 2);
    assert.deepEqual(listed.groups, GROUPS, "the summary is of everything");
  });
  await report.check("is refused a group that cannot be one", async () => {
    failsWith(await peer.call("appduct_list_tools", { group: "a/b/c" }), "invalid_request");
  });
  await report.check("describes a tool", async () => {
    const tool = valueOf(await peer.call("appduct_describe_tool", { name: "slow_task" }));
    assert.equal(tool.group, "diagnostics/progress");
    assert.equal(tool.timeout_ms, 5000);
    assert.equal(tool.policy, "allow");
    assert.equal(tool.signature, "slow_task() -> { done: bool }");
  });
  await report.check("calls a tool", async () => {
    assert.deepEqual(valueOf(await app("sum", { a: 2, b: 3 })), { total: 5 });
  });
  await report.check("calls with arguments that are a string of JSON", async () => {
    assert.deepEqual(valueOf(await app("sum", '{"a":2,"b":0.5}')), { total: 2.5 });
  });
  await report.check("calls with text that is half a character", async () => {
    failsWith(await app("sum", { a: "\ud83d", b: 1 }), "tool_input_validation_error");
  });
  await report.check("gets the error of a tool", async () => {
    const result = await app("throwing_tool");
    failsWith(result, "tool_execution_error");
    assert(textOf(result).includes("throwing_tool always fails on purpose."));
  });
  await report.check("gets an error for a tool that is not there", async () => {
    failsWith(await app("nothing"), "tool_not_found");
  });
  await report.check("gets an error for arguments of the wrong shape", async () => {
    failsWith(await app("sum", { a: "two" }), "tool_input_validation_error");
  });
  await report.check("gets an error for an argument that no tool knows", async () => {
    const result = await peer.call("appduct_list_tools", { grop: "counter" });
    failsWith(result, "invalid_request");
    assert(textOf(result).includes("grop"));
  });
  await report.check("gets an error for a session that is not there", async () => {
    failsWith(await peer.call("appduct_list_tools", { selector: "nobody" }), "unknown_session");
  });
  await report.check("accepts", async () => {
    await app("sum", { a: 1, b: 1 });
    assert((await count()) > 0);
    questions.length = 0;
    assert.deepEqual(valueOf(await app("reset_counter")), { count: 0 });
    assert.equal(questions.length, 1);
    assert(questions[0].includes("reset_counter") && questions[0].includes("playground"), questions[0]);
    assert.equal(await count(), 0);
  });
  for (const answer of ["decline", "cancel"]) {
    await report.check(answer === "decline" ? "declines" : "dismisses the question", async () => {
      const other = await open({ answer: ask(answer) });
      await app("sum", { a: 1, b: 1 });
      const before = await count();
      questions.length = 0;
      failsWith(await other.call("appduct_call_tool", { name: "reset_counter" }), "consent_declined");
      assert.equal(questions.length, 1);
      assert.equal(await count(), before);
      await other.close();
    });
  }
  await report.check("is denied where nobody can be asked", async () => {
    const other = await open({});
    await app("sum", { a: 1, b: 1 });
    const before = await count();
    const result = await other.call("appduct_call_tool", { name: "reset_counter" });
    failsWith(result, "policy_denied");
    assert(textOf(result).includes("no_consent_channel"));
    assert.equal(await count(), before);
    await other.close();
  });
  await report.check("sees progress", async () => {
    const seen = [];
    const result = await app("slow_task", {}, { onProgress: (progress) => seen.push(progress) });
    assert.deepEqual(valueOf(result), { done: true });
    const messages = seen.map((progress) => progress.message).filter(Boolean);
    assert(messages.includes("warming up") && messages.includes("almost there"), JSON.stringify(seen));
    for (let at = 1; at < seen.length; at += 1) assert(seen[at].progress >= seen[at - 1].progress, JSON.stringify(seen));
  });
  for (const [name, withProgress] of [["cancels", true], ["cancels without a progress token", false]]) {
    await report.check(name, async () => {
      const app_lines = new Journal();
      const abort = new AbortController();
      const options = withProgress ? { onProgress: () => abort.abort("enough") } : {};
      const call = app("slow_task", {}, { ...options, signal: abort.signal });
      const outcome = call.then((result) => JSON.stringify(result), () => "aborted");
      if (!withProgress) {
        await app_lines.shows("slow_task started");
        abort.abort("enough");
      }
      assert.equal(await outcome, "aborted");
      await app_lines.shows("slow_task failed: tool_cancelled");
    });
  }
  await report.check("cancels a wait", async () => {
    const abort = new AbortController();
    const wait = peer.call(
      "appduct_wait_for_event",
      { name: "playground_ping", timeoutMs: 1_200_000 },
      { signal: abort.signal },
    );
    const outcome = wait.then((result) => JSON.stringify(result), () => "aborted");
    // An answer to a later request shows that the wait has been read.
    await count();
    abort.abort("enough");
    assert.equal(await outcome, "aborted");
    await count();
  });
  await report.check("lists and reads events", async () => {
    const listed = valueOf(await peer.call("appduct_list_events", {}));
    assert.deepEqual(listed.events.map((event) => event.name), ["playground_ping"]);
    const read = valueOf(await peer.call("appduct_events", {}));
    assert.deepEqual(read.events, []);
    assert.equal(typeof read.cursor, "number");
  });
  await report.check("waits for an event that does not come", async () => {
    failsWith(await peer.call("appduct_wait_for_event", { name: "never", timeoutMs: 50 }), "tool_timeout");
  });
  await report.check("is held to a group and a session", async () => {
    const other = await open({ args: ["--session", "playground", "--group", "counter"], answer: ask("accept") });
    const listed = valueOf(await other.call("appduct_list_tools", {}));
    assert.deepEqual(listed.tools.map((tool) => tool.name), ["call_count", "reset_counter"]);
    const refused = await other.call("appduct_call_tool", { name: "sum", args: { a: 1, b: 1 } });
    assert.equal(refused.isError, true, JSON.stringify(refused));
    const described = await other.call("appduct_describe_tool", { name: "sum" });
    assert.equal(described.isError, true, JSON.stringify(described));
    assert.equal(typeof valueOf(await other.call("appduct_call_tool", { name: "call_count" })).count, "number");
    await other.close();
  });
  await report.check("leaves without a message that it cannot place", async () => {
    await peer.close();
    // These clients pass a notification on one turn later than a reply. The last progress of a call, read together with the
    // call's result, then finds nobody who waits for it.
    const errors = peer.errors.map(String).filter((error) => !error.includes("progress notification for an unknown token"));
    assert.deepEqual(errors, []);
  });
  report.finish();
}
