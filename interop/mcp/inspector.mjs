// The command line of the Inspector, in the era that its last argument names. It can ask nobody, and it ends after each call.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { GROUPS, program, stateDir, Report, serverEnvironment, TOOLS, valueOf, failsWith } from "./checks.mjs";

/** What the Inspector ends with where a tool's result is an error. */
const TOOL_FAILED = 5;

const era = process.argv[5];
const inspector = fileURLToPath(
  new URL("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", import.meta.url),
);

/** Runs one method of a server with `serverArgs` after `mcp`, and returns what was printed. */
async function run(method, options = [], { serverArgs = [], expected = 0 } = {}) {
  // What comes before the first option of the Inspector is the server's command, which gets little of the environment.
  const words = ["--cli", program, "mcp", "-e", `APPDUCT_STATE_DIR=${stateDir}`, "--protocol-era", era, "--format", "json", "-q", "--method", method, ...options];
  words.splice(3, 0, ...serverArgs);
  const child = spawn(process.execPath, [inspector, ...words], {
    env: serverEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (printed[name] += text));
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  assert.equal(code, expected, `exit ${code}: ${printed.stdout} ${printed.stderr}`);
  return printed;
}

async function call(name, args, settings) {
  const options = ["--tool-name", name, "--tool-args-json", JSON.stringify(args)];
  return result(await run("tools/call", options, settings));
}

function result({ stdout }) {
  const printed = JSON.parse(stdout);
  return printed.result ?? printed;
}

const report = new Report();
await report.check("lists the built-in tools, with nothing to remark on their schemas", async () => {
  const { tools } = result(await run("tools/list", ["--strict"]));
  assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
});
await report.check("reads the resource of sessions", async () => {
  const { contents } = result(await run("resources/read", ["--uri", "appduct://sessions"]));
  assert(contents[0].text.includes('"playground"'));
});
await report.check("lists the sessions", async () => {
  const { sessions } = valueOf(await call("appduct_sessions", {}));
  assert.deepEqual(sessions.map((session) => session.alias), ["playground"]);
});
await report.check("narrows to one group", async () => {
  const listed = valueOf(await call("appduct_list_tools", { group: "diagnostics" }));
  assert.deepEqual(listed.tools.map((tool) => tool.name), ["slow_task", "throwing_tool"]);
  assert.deepEqual(listed.groups, GROUPS);
});
await report.check("describes a tool", async () => {
  const tool = valueOf(await call("appduct_describe_tool", { name: "slow_task" }));
  assert.equal(tool.group, "diagnostics/progress");
});
await report.check("calls a tool", async () => {
  const called = await call("appduct_call_tool", { name: "sum", args: { a: 2, b: 3 } });
  assert.deepEqual(valueOf(called), { total: 5 });
});
await report.check("gets the error of a tool", async () => {
  const failed = await call("appduct_call_tool", { name: "throwing_tool" }, { expected: TOOL_FAILED });
  failsWith(failed, "tool_execution_error");
});
await report.check("is denied where nobody can be asked", async () => {
  const failed = await call("appduct_call_tool", { name: "reset_counter" }, { expected: TOOL_FAILED });
  failsWith(failed, "policy_denied");
});
await report.check("calls a hundred times over", async () => {
  const options = ["--tool-name", "appduct_call_tool", "--tool-args-json", '{"name":"sum","args":{"a":1,"b":1}}'];
  const { stdout } = await run("tools/call", [...options, "--load", "--load-requests", "100"]);
  const summary = JSON.parse(stdout);
  assert.equal(JSON.stringify(summary).includes('"errors":0') || summary.errors === 0, true, stdout);
});
report.finish();
