// The second TypeScript client, in the era that its last argument names.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { everything, program, serverEnvironment } from "./checks.mjs";

const MODES = { legacy: "legacy", auto: "auto", modern: { pin: "2026-07-28" } };
const era = process.argv[5];

async function open({ args = [], answer }) {
  const transport = new StdioClientTransport({ command: program, args: ["mcp", ...args], env: serverEnvironment() });
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client(
    { name: "peer", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: MODES[era] } },
  );
  const errors = [];
  client.onerror = (error) => errors.push(error);
  if (answer) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const action = answer(params.message);
      return action === "accept" ? { action, content: {} } : { action };
    });
  }
  await client.connect(transport);
  return {
    errors,
    protocolVersion: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    tools: () => client.listTools(),
    resource: (uri) => client.readResource({ uri }),
    call: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, { signal, onprogress: onProgress }),
    close: () => client.close(),
  };
}

await everything(open, era !== "legacy");
