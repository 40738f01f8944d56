// The conformance suite of the protocol against the HTTP front, in each revision that has one.
//
// The suite can send no token, so it talks to a forwarder that adds it and changes nothing else. Most of its scenarios call
// fixture tools that no real server has: `conformance.json` names each check that does not hold, under the reason. A name
// there that no fault needs is a fault too, so the list cannot grow old.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { program, stateDir, Report, serverEnvironment } from "./checks.mjs";

const REVISIONS = ["2025-11-25", "2026-07-28"];

/** What a check says that does not hold. A check may also be left out by the suite itself. */
const FAULTS = new Set(["FAILURE", "WARNING"]);

const suite = fileURLToPath(new URL("node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url));
const reasons = JSON.parse(readFileSync(new URL("conformance.json", import.meta.url), "utf8"));
const excused = new Set(reasons.flatMap(({ checks }) => checks));

/** Starts the server on a port of the system's choice, and resolves with its URL. */
async function serve() {
  const server = spawn(program, ["mcp", "--http", "127.0.0.1:0"], {
    env: serverEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const url = await new Promise((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        printed += text;
        const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed);
        if (found) resolve(found[0]);
      });
    }
    server.on("error", reject).on("close", (code) => reject(new Error(`the server ended with ${code}: ${printed}`)));
  });
  return { server, url: new URL(url) };
}

/** Passes everything on to `target`, with the token. */
async function forward(target, token) {
  const forwarder = createServer((incoming, outgoing) => {
    // What is asked for by name is asked of the target by its own name; any other name is passed on for it to refuse.
    const own = incoming.headers.host === `127.0.0.1:${forwarder.address().port}`;
    const headers = { ...incoming.headers, authorization: `Bearer ${token}`, ...(own && { host: target.host }) };
    const onward = request(
      { host: target.hostname, port: target.port, path: incoming.url, method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise((resolve) => forwarder.listen(0, "127.0.0.1", resolve));
  return { forwarder, url: `http://127.0.0.1:${forwarder.address().port}/mcp` };
}

/** Runs every scenario of a revision, and returns its checks: what of, named how, and why not, where they do not hold. */
async function checksOf(revision, url) {
  const results = mkdtempSync(join(tmpdir(), "appduct-conformance-"));
  try {
    const words = ["server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", results];
    const child = spawn(process.execPath, [suite, ...words], { env: serverEnvironment(), stdio: "ignore" });
    // Its exit status says that something failed, which says nothing yet.
    await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
    return readdirSync(results).flatMap((run) => {
      const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT.+$/.exec(run)[1];
      const checks = JSON.parse(readFileSync(join(results, run, "checks.json"), "utf8"));
      return checks.map(({ id, status, errorMessage }) => ({
        scenario,
        name: `${scenario}/${id}`,
        fault: FAULTS.has(status) ? `${status}: ${errorMessage ?? ""}` : null,
      }));
    });
  } finally {
    rmSync(results, { recursive: true });
  }
}

const report = new Report();
const { server, url } = await serve();
const { forwarder, url: front } = await forward(url, readFileSync(join(stateDir, "mcp-token"), "utf8").trim());
const faulty = new Set();
for (const revision of REVISIONS) {
  const checks = await checksOf(revision, front);
  for (const scenario of new Set(checks.map((check) => check.scenario))) {
    const faults = checks.filter((check) => check.scenario === scenario && check.fault);
    for (const fault of faults) faulty.add(fault.name);
    const why = faults.some((fault) => excused.has(fault.name)) ? ", but for what is excused" : "";
    await report.check(`${revision} ${scenario}${why}`, async () => {
      for (const { name, fault } of faults) assert(excused.has(name), `${name} ${fault}`);
    });
  }
  await report.check(`${revision} ran`, async () => assert(checks.length > 40, `only ${checks.length} checks`));
}
await report.check("every excuse is needed", async () => {
  const idle = [...excused].filter((name) => !faulty.has(name));
  assert.deepEqual(idle, [], "these hold, or are no checks of this suite");
});
server.kill();
forwarder.close();
report.finish();
