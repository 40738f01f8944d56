// The first TypeScript SDK, which speaks the protocol of sessions that begin with `initialize`.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { everything, program, serverEnvironment } from "./checks.mjs";

async function open({ args = [], answer }) {
  const transport = new StdioClientTransport({ command: program, args: ["mcp", ...args], env: serverEnvironment() });
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: "peer", version: "1.0.0" }, { capabilities });
  const errors = [];
  client.onerror = (error) => errors.push(error);
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      const action = answer(params.message);
      return action === "accept" ? { action, content: {} } : { action };
    });
  }
  let protocolVersion;
  transport.setProtocolVersion = (version) => (protocolVersion = version);
  await client.connect(transport);
  return {
    errors,
    protocolVersion,
    instructions: client.getInstructions(),
    tools: () => client.listTools(),
    resource: (uri) => client.readResource({ uri }),
    call: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, CallToolResultSchema, { signal, onprogress: onProgress }),
    close: () => client.close(),
  };
}

await everything(open, false);
