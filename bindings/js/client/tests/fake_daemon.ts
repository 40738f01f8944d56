import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { VERSION } from '../src/version.js';

export interface Request {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

type Answer = (request: Request, socket: Socket) => unknown;

/** A socket that answers as a test wants it to, for what a real daemon does not do. */
export class FakeDaemon {
  readonly stateDir = mkdtempSync(join(tmpdir(), 'appduct-'));
  readonly requests: Request[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  /** What `answer` returns is the result; with `undefined` it has answered itself. */
  constructor(
    private readonly answer: Answer,
    private readonly version = VERSION,
  ) {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(join(this.stateDir, 'daemon.sock'), resolve));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.stateDir, { recursive: true, force: true });
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket);
    let text = '';
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
        const request = JSON.parse(text.slice(0, end)) as Request;
        text = text.slice(end + 1);
        this.requests.push(request);
        const result = this.#result(request, socket);
        if (result !== undefined) socket.write(line({ jsonrpc: '2.0', id: request.id, result }));
      }
    });
  }

  #result(request: Request, socket: Socket): unknown {
    if (request.method === 'daemon.status') return { version: this.version, pid: 1, sessions: [] };
    if (request.method === 'sessions.describe') return { sessionId: 's1', alias: 'fake', state: 'active', device: {} };
    return this.answer(request, socket);
  }
}

export function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
